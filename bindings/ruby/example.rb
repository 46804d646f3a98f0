# Two kernels, the second of which starts before the first has ended: PTX from a string, run, read back.
#
#     ruby example.rb                           # on the GPU, or on the emulated driver where there is none
#     GRIDDEP_DRIVER=emulated ruby example.rb

require_relative "griddep"

PTX = <<~'TEXT'
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

COUNT = 1000
SHAPE = { grid: (COUNT + 127) / 128, block: 128 }.freeze

Griddep.open do |runtime|
  puts runtime.info.emulated == 1 ? "emulated" : "on a GPU"
  mod = runtime.load(PTX, name: "example.ptx")
  x = runtime.copy_in((0...COUNT).to_a.pack("e*"))
  y, z = Array.new(2) { runtime.allocate(4 * COUNT) }

  chain = runtime.chain
  chain.add(mod.kernel("square"), [x, y, COUNT], **SHAPE)
  chain.add(mod.kernel("shift"), [y, z, 0.5, COUNT], **SHAPE)
  chain.run("pdl")
  chain.length.times do |index|
    hop = chain.hop("pdl", index)
    puts "#{hop.kernel}: #{Griddep.reason_text(hop.reason)}"
  end

  result = runtime.read(z).unpack("e*")
  puts "result: #{result.first(4).join(" ")} ... #{result.last}"

  begin
    runtime.load(PTX.sub("mul.f32 %v, %v, %v;", "mul.f32 %v, %v %v;"), name: "broken.ptx")
  rescue Griddep::Error => error
    puts "#{error.name} at #{error.file}:#{error.line}:#{error.column}"
  end
end
