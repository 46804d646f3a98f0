# Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.
#
#     perl example.pl                           on the GPU, or on the emulated driver where there is none
#     GRIDDEP_DRIVER=emulated perl example.pl

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Griddep;

my $ptx = <<'TEXT';
.version 7.8
.target sm_90
.address_size 64

// y[i] = x[i] * x[i]
.visible .entry square(.param .u64 x, .param .u64 y, .param .u32 count)
{
    .reg .pred %outside;
    .reg .b32 %i, %n, %threads;
    .reg .b64 %from, %to;
    .reg .f32 %v;

    griddepcontrol.launch_dependents;   // what follows may start now, and fetch what it can
    ld.param.u64 %from, [x];
    ld.param.u64 %to, [y];
    ld.param.u32 %n, [count];
    mov.u32 %i, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mul.lo.u32 %i, %i, %threads;
    mov.u32 %threads, %tid.x;
    add.u32 %i, %i, %threads;
    setp.ge.u32 %outside, %i, %n;
    mad.wide.u32 %from, %i, 4, %from;
    mad.wide.u32 %to, %i, 4, %to;
    griddepcontrol.wait;                // from here on, what came before is done
    @%outside ret;
    ld.global.f32 %v, [%from];
    mul.f32 %v, %v, %v;
    st.global.f32 [%to], %v;
    ret;
}

// y[i] = x[i] + bias
.visible .entry shift(.param .u64 x, .param .u64 y, .param .f32 bias, .param .u32 count)
{
    .reg .pred %outside;
    .reg .b32 %i, %n, %threads;
    .reg .b64 %from, %to;
    .reg .f32 %v, %b;

    griddepcontrol.launch_dependents;
    ld.param.u64 %from, [x];
    ld.param.u64 %to, [y];
    ld.param.f32 %b, [bias];
    ld.param.u32 %n, [count];
    mov.u32 %i, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mul.lo.u32 %i, %i, %threads;
    mov.u32 %threads, %tid.x;
    add.u32 %i, %i, %threads;
    setp.ge.u32 %outside, %i, %n;
    mad.wide.u32 %from, %i, 4, %from;
    mad.wide.u32 %to, %i, 4, %to;
    griddepcontrol.wait;
    @%outside ret;
    ld.global.f32 %v, [%from];
    add.f32 %v, %v, %b;
    st.global.f32 [%to], %v;
    ret;
}
TEXT

my $count = 1000;
my %shape = (grid => 8, block => 128);
my $runtime = Griddep->open;
print $runtime->info->{emulated} ? "emulated\n" : "on a GPU\n";

my $module = $runtime->load($ptx, 'example.ptx');
my $x = $runtime->copy_in(pack 'f<*', 0 .. $count - 1);
my ($y, $z) = map { $runtime->allocate(4 * $count) } 1 .. 2;

my $chain = $runtime->chain;
$chain->add($module->kernel('square'), [$x, $y, $count], %shape);
$chain->add($module->kernel('shift'), [$y, $z, 0.5, $count], %shape);
$chain->run('pdl');
for my $index (0 .. $chain->length - 1) {
    my $hop = $chain->hop(pdl => $index);
    print "$hop->{kernel}: ", Griddep::reason_text($hop->{reason}), "\n";
}

my @result = unpack 'f<*', $runtime->read($z);
print "result: @result[0 .. 3] ... $result[-1]\n";

(my $broken = $ptx) =~ s/mul\.f32 %v, %v, %v;/mul.f32 %v, %v %v;/;
if (!eval { $runtime->load($broken, 'broken.ptx') }) {
    my $error = $@;
    print $error->name, ' at ', join(':', $error->file, $error->line, $error->column), "\n";
}
