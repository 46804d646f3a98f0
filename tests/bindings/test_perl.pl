# The Perl binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases.

use strict;
use warnings;
use Griddep;

my $ptx = do { local (@ARGV, $/) = $ENV{PTX}; <> };
my $count = 1000;
my %shape = (grid => 8, block => [128, 1, 1]);
my $expected = join ' ', map { $_ * $_ + 0.5 } 0 .. $count - 1;
my ($passed, $failed) = (0, 0);

sub check {
    my ($name, $test) = @_;
    return $passed++ if eval { $test->(); 1 };
    $failed++;
    print "failed: $name: $@";
    return;
}

sub equal { my ($found, $wanted) = @_; die "$found, not $wanted, line @{[(caller)[2]]}\n" if $found ne $wanted; return }

sub fails {
    my ($status, $test) = @_;
    die "nothing failed, line @{[(caller)[2]]}\n" if eval { $test->(); 1 };
    equal($@->status, $status) if defined $status;
    return $@;
}

sub session {
    my $runtime = Griddep->open(driver => 'emulated');
    my $module = $runtime->load($ptx, 'chain.ptx');
    my $x = $runtime->copy_in(pack 'f<*', 0 .. $count - 1);
    my ($y, $z) = map { $runtime->allocate(4 * $count) } 1 .. 2;
    my $chain = $runtime->chain;
    $chain->add($module->kernel('square'), [$x, $y, $count], %shape)->add($module->kernel('shift'), [$y, $z, 0.5, $count], %shape);
    return ($runtime, $module, $chain, $x, $y, $z);
}

sub result { my ($runtime, $z, $stream) = @_; return join ' ', unpack 'f<*', $runtime->read($z, undef, $stream) }

check('every mode', sub {
    my ($runtime, undef, $chain, $x, undef, $z) = session();
    my $stream = $runtime->stream;
    for my $mode (qw(serial pdl graph graph-pdl)) {
        $runtime->write($z, "\0" x (4 * $count));
        $chain->prepare($mode);
        $chain->run($mode, $stream);
        equal(result($runtime, $z, $stream), $expected);
        equal($chain->hop($mode, 1)->{reason}, $mode =~ /pdl/ ? Griddep::REASON_SET : Griddep::REASON_OFF);
    }
    $chain->reaches(0, [[$x, 4, Griddep::ACCESS_READ]]);
    fails(Griddep::ERROR_ARGUMENT, sub { $chain->reaches(0, [[$x, 4, Griddep::ACCESS_UNKNOWN]]) });
    equal($chain->hop('pdl', 1)->{reason}, Griddep::REASON_SET);
    my $unknown = fails(Griddep::ERROR_NOT_FOUND, sub { $chain->run('sideways') });
    die $unknown unless $unknown->text =~ /no mode "sideways"; there are serial/;
});

check('overlap shortens the chain', sub {
    my ($runtime, undef, $chain) = session();
    my ($serial, $pdl) = map { my $mode = $_; $runtime->time(sub { $chain->run($mode) }) } qw(serial pdl);
    die "$pdl is not less than $serial\n" unless $pdl < $serial;
});

check('arguments', sub {
    my ($runtime, $module, undef, $x, undef, $z) = session();
    my $kernel = $module->kernel('shift');
    equal(join(' ', map { $_->{type} } @{$kernel->parameters}), 'u64 u64 f32 u32');
    for my $arguments ([$x, $z, 2.5, $count], [$x->address, $z->address, \pack('f<', 2.5), \pack('L<', $count)]) {
        $runtime->write($z, "\0" x (4 * $count));
        equal($kernel->launch($arguments, %shape), Griddep::REASON_SET);
        equal((unpack 'f<*', $runtime->read($z))[3], 5.5);
    }
    fails(Griddep::ERROR_SIGNATURE, sub { $kernel->launch([$x, $z, 2.5], %shape) });
    fails(undef, sub { $kernel->launch([$x, $z, 'much', $count], %shape) }) =~ /^argument 2 is no number/ or die $@;
    fails(undef, sub { $kernel->launch([$x, $z, 2.5, $count], width => 3) }) =~ /no option width; there are .*shared_bytes/ or die $@;
});

check('options and numbers that do not exist are refused', sub {
    my ($runtime, $module, undef, $x, undef, $z) = session();
    my $kernel = $module->kernel('square');
    my $launch = sub { my ($last, %changes) = @_; return sub { $kernel->launch([$x, $z, @$last], %shape, %changes) } };
    for my $case (
        [qr/there is no option drvier/, sub { Griddep->open(drvier => 'nvidia') }],
        [qr/device 99 does not exist/, sub { Griddep->open(driver => 'emulated', device => 99) }],
        [qr/grid is 4294967297, which does not fit/, $launch->([$count], grid => 2**32 + 1)],
        [qr/grid is 1.5, which does not fit/, $launch->([$count], grid => [1, 1.5])],
        [qr/grid is a, which is no number/, $launch->([$count], grid => 'a')],
        [qr/block is -1, which does not fit/, $launch->([$count], block => -1)],
        [qr/grid has more than three dimensions/, $launch->([$count], grid => [1, 1, 1, 1])],
        [qr/shared_bytes is 4294967312, which does not fit/, $launch->([$count], shared_bytes => 2**32 + 16)],
        [qr/argument 2 is 1099511627776, which does not fit/, $launch->([2**40])],
        [qr/argument 2 is 10.5, which does not fit/, $launch->([10.5])],
        [qr/takes 3 arguments, 4 are given/, $launch->([$count, 5])],
        [qr/bytes is -1, which does not fit/, sub { $runtime->allocate(-1) }],
        [qr/bytes is 1.5, which does not fit/, sub { $runtime->allocate(1.5) }],
        [qr/4004 bytes do not fit into memory of 4000/, sub { $runtime->write($z, "\0" x 4004) }],
        [qr/8000 bytes do not fit into memory of 4000/, sub { $runtime->read($z, 8000) }],
        [qr/characters that are no bytes/, sub { $runtime->write($z, "\x{263a}") }],
        [qr/zero byte/, sub { $module->kernel("square\0") }],
    ) {
        my ($message, $wrong) = @$case;
        fails(undef, $wrong) =~ $message or die "$@ is not $message";
    }
    # Compilers write .u32 for int too.
    equal($module->kernel('shift')->launch([$x, $z, 0.5, -1], grid => 1, block => 1), Griddep::REASON_SET);
});

check('what was closed is refused', sub {
    my ($runtime, $module, $chain, $x, $y, $z) = session();
    my ($stream, $kernel, $other, $memory) = ($runtime->stream, $module->kernel('square'), $runtime->load_file($ENV{PTX}), $runtime->allocate(4 * $count));
    my $of_other = $other->kernel('square');
    $_->close for $memory, $stream, $other;
    for my $case (
        [memory => sub { $kernel->launch([$x, $memory, $count], %shape) }],
        [memory => sub { $runtime->read($memory) }],
        [memory => sub { $runtime->write($memory, "\0" x 4) }],
        [stream => sub { $kernel->launch([$x, $y, $count], %shape, stream => $stream) }],
        [stream => sub { $runtime->synchronize($stream) }],
        [stream => sub { $chain->run('pdl', $stream) }],
        ["kernel's module" => sub { $of_other->launch([$x, $y, $count], %shape) }],
        ["kernel's module" => sub { $chain->add($of_other, [$x, $y, $count], %shape) }],
    ) {
        my ($what, $use) = @$case;
        equal(fails(Griddep::ERROR_ARGUMENT, $use), "GRIDDEP_ERROR_ARGUMENT: the $what has been closed\n");
    }
});

check('texts of wide characters are UTF-8', sub {
    my ($runtime) = session();
    my $error = fails(Griddep::ERROR_SYNTAX, sub { $runtime->load("// \x{263a}\n$ptx\nend", "\x{263a}.ptx") });
    equal($error->file, "\xe2\x98\xba.ptx");
});

check('errors have status and position', sub {
    my ($runtime, $module) = session();
    (my $broken = $ptx) =~ s/add\.f32 %v, %v, %b;/add.f32 %v, %v %b;/;
    my $error = fails(Griddep::ERROR_SYNTAX, sub { $runtime->load($broken, 'broken.ptx') });
    equal(join(' ', $error->name, $error->file, $error->line, $error->column), 'GRIDDEP_ERROR_SYNTAX broken.ptx 57 20');
    "$error" =~ /57 \| / or die "no line is quoted: $error";
    fails(Griddep::ERROR_NOT_FOUND, sub { $module->kernel('cube') });
});

check('everything but the result ends while the device works', sub {
    my ($runtime, $z) = do {
        my ($runtime, $module, $chain, $x, $y, $z) = session();
        $chain->run('pdl');
        ($runtime, $z);
    };
    equal(result($runtime, $z), $expected);
});

check('a chain keeps its memory and its module', sub {
    my ($runtime, undef, $chain, undef, undef, $z) = session();
    my $other = $runtime->copy_in("\0" x (4 * $count));
    $chain->run('graph-pdl');
    equal(result($runtime, $z), $expected);
});

check('closing in any order', sub {
    my ($runtime, $module, $chain, $x, $y, $z) = session();
    $runtime->close;
    fails(Griddep::ERROR_ARGUMENT, sub { $runtime->info });
    $chain->run('pdl');
    $module->close;
    $chain->close for 1 .. 2;
    fails(Griddep::ERROR_ARGUMENT, sub { $chain->run('pdl') });
    $_->close for $x, $y, $z;
});

check('log function that dies', sub {
    my $heard = 0;
    my $runtime = Griddep->open(driver => 'emulated', log_level => Griddep::LOG_DEBUG, log => sub { $heard += length $_[1]; die "in a log function\n" });
    $runtime->load_shelf('vector_add');
    die "nothing was logged\n" unless $heard;
});

check('a child of fork ends nothing', sub {
    my ($runtime, $module, $chain, $x, undef, $z) = session();
    $chain->run('graph-pdl');
    my ($handle, $address, $word) = ($runtime->handle, $x->address, "\0" x 4);
    my $child = fork // die "fork: $!\n";
    if (!$child) {
        $_->close for $chain, $module, $x, $runtime;
        require POSIX;
        # A driver refuses each call in a child; what is closed there ends nothing of the parent's.
        POSIX::_exit(Griddep::memory_read($handle, Griddep::scalar_to_pointer($word), $address, 4, undef, undef) ? 0 : 1);
    }
    waitpid $child, 0;
    equal($?, 0);
    equal(result($runtime, $z), $expected);
});

print "$passed passed, $failed failed, 0 skipped\n";
exit($failed != 0);
