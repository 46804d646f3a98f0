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
    my ($runtime, undef, $chain, undef, undef, $z) = session();
    my $stream = $runtime->stream;
    for my $mode (qw(serial pdl graph graph-pdl)) {
        $runtime->write($z, "\0" x (4 * $count));
        $chain->prepare($mode);
        $chain->run($mode, $stream);
        equal(result($runtime, $z, $stream), $expected);
        equal($chain->hop($mode, 1)->{reason}, $mode =~ /pdl/ ? Griddep::REASON_SET : Griddep::REASON_OFF);
    }
    equal(fails(undef, sub { $chain->run('sideways') }), "there is no mode sideways\n");
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
    fails(undef, sub { $kernel->launch([$x, $z, 2.5, $count], width => 3) }) =~ /no field width/ or die $@;
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
    my $handle = $chain->{handle};
    my $child = fork // die "fork: $!\n";
    if (!$child) {
        $_->close for $chain, $module, $x, $runtime;
        require POSIX;
        POSIX::_exit(Griddep::chain_length($handle) == 2 ? 0 : 1);
    }
    waitpid $child, 0;
    equal($?, 0);
    equal(result($runtime, $z), $expected);
});

print "$passed passed, $failed failed, 0 skipped\n";
exit($failed != 0);
