// The system call filter: what a confined program may not ask of the kernel, because it leads out of the
// confinement, changes something that Landlock does not guard, outlives the program, or is a needlessly wide
// way in. Header only, so that a test can install it. Everything denied answers EPERM; what programs know how
// to do without answers ENOSYS.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

namespace deputy::init {

#if defined(__x86_64__)
inline constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "deputy-init knows the system calls of x86-64 and arm64 only"
#endif

// file_setattr. What comes after it is not known to be harmless.
inline constexpr unsigned kNewestKnownCall = 469;

inline constexpr unsigned kDenied[] = {
    // io_uring would open sockets and files behind this filter's back
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    // into other processes
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_process_madvise,
    448 /* process_mrelease */,
    __NR_kcmp,
    __NR_pidfd_getfd,
    // another view of the file system
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_open_tree,
    __NR_move_mount,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    467 /* open_tree_attr */,
    __NR_unshare,
    __NR_setns,
    __NR_name_to_handle_at,
    __NR_open_by_handle_at,
    __NR_fanotify_init,
    // much of the kernel behind one call
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
    // the machine's own affairs
    __NR_kexec_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_acct,
    __NR_quotactl,
    443 /* quotactl_fd */,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_syslog,
    __NR_vhangup,
#if defined(__x86_64__)
    __NR_kexec_file_load,
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
#endif
};

// What a mount namespace and an IPC namespace make harmless.
inline constexpr unsigned kDeniedOutside[] = {
    // what would outlive the program
    __NR_shmget,
    __NR_semget,
    __NR_msgget,
    __NR_mq_open,
    // changes to files that Landlock does not see
    __NR_fchmod,
    __NR_fchmodat,
    452 /* fchmodat2 */,
    __NR_fchown,
    __NR_fchownat,
    __NR_utimensat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    463 /* setxattrat */,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    466 /* removexattrat */,
    469 /* file_setattr */,
#if defined(__x86_64__)
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
#endif
};

// Calls that signal, or get hold of, the process in their first argument.
inline constexpr unsigned kSignalling[] = {
    __NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, __NR_pidfd_open};

// Calls that give a file the mode in the argument with this number.
struct SetsMode {
  unsigned call;
  int argument;
};
inline constexpr SetsMode kSettingModes[] = {
    {__NR_fchmod, 1}, {__NR_fchmodat, 2}, {452 /* fchmodat2 */, 2}, {__NR_mknodat, 2},
#if defined(__x86_64__)
    {__NR_chmod, 1},  {__NR_creat, 1},    {__NR_mknod, 1},
#endif
};

// FS_IOC_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR (they need no descriptor opened for writing),
// TIOCSTI, TIOCLINUX.
inline constexpr unsigned kDeniedIoctls[] = {0x40086602, 0x40087602, 0x401c5820, 0x5412, 0x541c};

inline constexpr unsigned kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

struct FilterRules {
  pid_t init = 0;           // must not be signalled: with it would go the one who ends the tree
  bool isolated = false;    // in mount, IPC and PID namespaces of its own
  bool sockets = false;     // of the internet: they reach the network, or its own empty one
  bool truncation = false;  // Landlock guards it
};

class Filter {
 public:
  explicit Filter(const FilterRules& rules) {
    check_architecture();
    // First: a search opens files by the ten thousand. What a filter allows whatever its arguments are, the
    // kernel looks up in a table.
    forbid_in_open(__NR_openat, 2);
#if defined(__x86_64__)
    forbid_in_open(__NR_open, 1);
#endif
    for (const unsigned call : kDenied) when_call(call, 1), answer(EPERM);
    if (!rules.isolated) {
      for (const unsigned call : kDeniedOutside) when_call(call, 1), answer(EPERM);
    }
    if (!rules.truncation) when_call(__NR_truncate, 1), answer(EPERM);
    forbid_sockets(rules);
    when_call(__NR_clone3, 1), answer(ENOSYS);  // its flags lie in memory, out of a filter's sight
    when_call(437 /* openat2 */, 1), answer(ENOSYS);
    forbid_namespaces();
    protect(rules.init);
    forbid_ioctls(rules);
    for (const auto& [call, argument] : kSettingModes) forbid_owners_rights(call, argument);
    allow();
  }

  // Cannot be taken back. Needs no_new_privs.
  bool install() {
    const sock_fprog program{length_, code_};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void put(unsigned short code, unsigned value, unsigned char yes = 0, unsigned char no = 0) {
    if (length_ < kMost) code_[length_++] = sock_filter{code, yes, no, value};
  }
  void load(size_t offset) { put(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
  // The low half: enough for everything that is an int in the kernel. Little-endian, as both architectures
  // are.
  void load_argument(int index) { load(offsetof(seccomp_data, args) + sizeof(unsigned long long) * index); }
  void allow() { put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void answer(unsigned error) { put(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error); }
  void when_call(unsigned call, int lines) {
    put(BPF_JMP | BPF_JEQ | BPF_K, call, 0, static_cast<unsigned char>(lines));
  }
  void allow_if_equal(unsigned value) { put(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), allow(); }
  void deny_if_equal(unsigned value) { put(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), answer(EPERM); }

  // Without this, a 32-bit system call (int 0x80) or an x32 one would pass under another call's number.
  void check_architecture() {
    load(offsetof(seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), answer(EPERM);
    load(offsetof(seccomp_data, nr));
    put(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), answer(EPERM);
    put(BPF_JMP | BPF_JGT | BPF_K, kNewestKnownCall, 0, 1), answer(ENOSYS);
  }

  void forbid_namespaces() {
    when_call(__NR_clone, 4);
    load_argument(0);
    put(BPF_JMP | BPF_JSET | BPF_K, kNewNamespaces, 0, 1), answer(EPERM);
    allow();
  }

  // Landlock does so too, but only from ABI 6 on.
  void protect(pid_t init) {
    for (const unsigned call : kSignalling) {
      when_call(call, 8);
      load_argument(0);
      deny_if_equal(static_cast<unsigned>(init));
      deny_if_equal(static_cast<unsigned>(-init));
      deny_if_equal(static_cast<unsigned>(-1));
      allow();
    }
    // A descriptor does not tell whose it is: an open folder of /proc will do.
    when_call(__NR_pidfd_send_signal, 1), answer(ENOSYS);
    // RLIMIT_CPU of another process is a way to signal it.
    when_call(__NR_prlimit64, 4);
    load_argument(0);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), answer(EPERM);
    allow();
    // So is to join its process group, which kill(0) reaches, and a descriptor whose owner is told of news by
    // SIGKILL.
    when_call(__NR_setpgid, 4);
    load_argument(1);
    deny_if_equal(static_cast<unsigned>(init));
    allow();
    when_call(__NR_fcntl, 4);
    load_argument(1);
    deny_if_equal(F_SETSIG);
    allow();
  }

  // Unix sockets by name would lead to whoever listens in a granted folder, and Landlock does not see them
  // before ABI 9. Pairs of them (socketpair) lead nowhere.
  void forbid_sockets(const FilterRules& rules) {
    if (!rules.sockets) {
      when_call(__NR_socket, 1), answer(EPERM);
      return;
    }
    when_call(__NR_socket, 10);
    load_argument(0);
    allow_if_equal(AF_INET);
    allow_if_equal(AF_INET6);
    put(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3);
    load_argument(2);
    allow_if_equal(0 /* NETLINK_ROUTE: resolvers ask which addresses there are */);
    answer(EPERM);
  }

  void forbid_ioctls(const FilterRules& rules) {
    constexpr int kAll = sizeof(kDeniedIoctls) / sizeof(kDeniedIoctls[0]);
    constexpr int kFileFlags = 3;  // a mount namespace guards them
    const int first = rules.isolated ? kFileFlags : 0;
    when_call(__NR_ioctl, 2 + 2 * (kAll - first));
    load_argument(1);
    for (int i = first; i < kAll; ++i) deny_if_equal(kDeniedIoctls[i]);
    allow();
  }

  // Outside of the sandbox too a program with such a mode runs as its owner, who may be root. mkdir needs no
  // rule: the kernel takes these bits off.
  static constexpr unsigned kOwnersRights = S_ISUID | S_ISGID;
  void deny_owners_rights(int mode_index) {
    load_argument(mode_index);
    put(BPF_JMP | BPF_JSET | BPF_K, kOwnersRights, 0, 1), answer(EPERM);
  }
  void forbid_owners_rights(unsigned call, int mode_index) {
    when_call(call, 4);
    deny_owners_rights(mode_index);
    allow();
  }

  // A mode counts only where a file is made. And O_TRUNC truncates also without writing, which Landlock is
  // not asked about everywhere (guards_truncation): it asks for what the descriptor will be good for.
  void forbid_in_open(unsigned call, int flags_index) {
    constexpr unsigned kMakes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    when_call(call, 12);
    load_argument(flags_index);
    put(BPF_JMP | BPF_JSET | BPF_K, kMakes, 0, 3);
    deny_owners_rights(flags_index + 1);
    load_argument(flags_index);
    put(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE);
    deny_if_equal(O_TRUNC | O_RDONLY);
    deny_if_equal(O_TRUNC | O_ACCMODE);
    allow();
  }

  static constexpr unsigned short kMost = 512;
  sock_filter code_[kMost] = {};
  unsigned short length_ = 0;
};

}  // namespace deputy::init
