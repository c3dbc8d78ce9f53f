# Starts one command in namespaces of its own, on the root that a plan describes: `perl -f start.pl PLAN COMMAND …`.
#
# One program for all steps: each that is a program of its own would cost as much as the command that it starts. Perl
# loads no module here, and starts in the time of a shell. The plan is a list of texts, each ended by a zero byte:
#
#   numbers of system calls (prctl, unshare, mount, umount2, pivot_root, setsid), flags of the namespaces, the user and
#   the group inside, the new root, the directory, the file of the filter, the file for the number of the first process;
#   then, for each mount: its source, its place, its kind, its flags, flags of a second step or "", its options, and what
#   to make of the place: "", "folder", "file"
#
# What fails ends it with FAILED and a message. Nothing of the command has run by then.

my $FAILED = 125;
my ($file, @command) = @ARGV;
delete $ENV{PERL_BADLANG};

sub failed {
    print STDERR "remit: the command could not be confined, and did not run: $_[0]\n";
    exit $FAILED;
}

sub content {
    open(my $in, "<", $_[0]) or failed("$_[0]: $!");
    binmode $in;
    local $/;
    my $found = <$in>;
    close $in;
    return $found;
}

my ($prctl, $unshare, $mount, $umount, $pivot, $setsid, $namespaces, $user, $group, $root, $directory, $filter, $first, @mounts)
    = split(/\0/, content($file), -1);
pop @mounts;
for ($prctl, $unshare, $mount, $umount, $pivot, $setsid, $namespaces) { $_ += 0 }
my ($DEATH_SIGNAL, $SECCOMP, $NO_NEW_PRIVILEGES, $WITH_FILTER, $KILL) = (1, 22, 38, 2, 9);
my ($NEW_USER, $NEW_NETWORK, $PRIVATE, $DETACH, $SET_FLAGS) = (0x10000000, 0x40000000, 0x44000, 2, 0x8914);
my $calls = content($filter);
length($calls) or failed("there is no filter of system calls");

sub ends_with_parent { syscall($prctl, $DEATH_SIGNAL, $KILL, 0, 0, 0) == 0 or failed("prctl: $!") }

sub is_known_as {    # this process, in the user namespace that it has just made
    my ($inner_user, $inner_group, $outer_user, $outer_group) = @_;
    for (["setgroups", "deny"], ["uid_map", "$inner_user $outer_user 1"], ["gid_map", "$inner_group $outer_group 1"]) {
        my ($name, $text) = @$_;
        open(my $out, ">", "/proc/self/$name") or failed("$name: $!");
        syswrite($out, $text) or failed("write failed /proc/self/$name: $!");
        close $out;
    }
}

sub ended {    # as a shell says it
    return $_[0] & 127 ? 128 + ($_[0] & 127) : $_[0] >> 8;
}

ends_with_parent();
syscall($prctl, $NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 or failed("prctl: $!");
my ($outer_user, $outer_group) = ($> + 0, (split(/ /, $)))[0]);
syscall($unshare, $namespaces) == 0 or failed("unshare failed: $!");
is_known_as(0, 0, $outer_user, $outer_group);
if ($namespaces & $NEW_NETWORK) {    # its own loopback, up
    socket(my $any, 2, 2, 0) or failed("socket: $!");
    my $up = pack("a16sx14", "lo", 0x41);
    ioctl($any, $SET_FLAGS, $up) or failed("loopback: $!");
    close $any;
}

pipe(my $begins, my $may_begin) or failed("pipe: $!");
my $child = fork();
defined $child or failed("fork: $!");
if ($child) {
    open(my $out, ">", $first) or failed("$first: $!");
    syswrite($out, "\"child-pid\": $child") or failed("$first: $!");
    syswrite($may_begin, ".");
    close $begins;
    waitpid($child, 0);
    exit ended($?);
}

# The first process in there. When it ends, everything in there does. It begins when its number is written down, and not
# at all if its parent has ended before it asked to end with it.
ends_with_parent();
close $may_begin;
sysread($begins, my $said, 1) or exit $FAILED;
close $begins;
my ($none, $top, $here, $nothing) = ("none", "/", ".", "");
syscall($mount, $none, $top, 0, $PRIVATE, 0) == 0 or failed("mount /: $!");
while (@mounts) {
    my ($source, $place, $kind, $flags, $second, $options, $make) = splice(@mounts, 0, 7);
    if ($make) {
        my $way = "";
        my @parts = split(/\//, substr($place, 1));
        my $last = $make eq "file" ? pop @parts : undef;
        for (@parts) { $way .= "/$_"; mkdir($way, 0755) unless -d $way }
        if (defined $last and not -e "$way/$last") {
            open(my $out, ">", "$way/$last") or failed("$place: $!");
            close $out;
        }
    }
    syscall($mount, $source, $place, $kind, $flags + 0, $options) == 0 or failed("mount $place: $!");
    $second eq "" or syscall($mount, $none, $place, $nothing, $second + 0, 0) == 0 or failed("mount $place: $!");
}
chdir($root) or failed("$root: $!");
my $old = ".";
syscall($pivot, $here, $old) == 0 or failed("pivot_root: $!");
syscall($umount, $here, $DETACH) == 0 or failed("umount: $!");
chdir($directory) or failed("$directory: $!");

$child = fork();
defined $child or failed("fork: $!");
if ($child) {
    my $found;
    while (($found = waitpid(-1, 0)) > 0) { exit ended($?) if $found == $child }
    exit $FAILED;
}

# The command. No capability is left to it: it is nobody in particular, in a namespace below the one of the mounts.
syscall($unshare, $NEW_USER) == 0 or failed("unshare failed: $!");
is_known_as($user, $group, 0, 0);
syscall($setsid);
my $program = pack("Sx6P", length($calls) / 8, $calls);
syscall($prctl, $SECCOMP, $WITH_FILTER, $program, 0, 0) == 0 or failed("system calls could not be filtered: $!");
exec { $command[0] } @command;
my $code = $! == 2 ? 127 : 126;
print STDERR "remit: $command[0]: $!\n";
exit $code;
