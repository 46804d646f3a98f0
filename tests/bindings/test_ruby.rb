# The Ruby binding on the emulated driver. PTX names the text that is loaded; the last line sums up the cases.

require "griddep"

PTX = File.read(ENV.fetch("PTX"))
COUNT = 1000
SHAPE = { grid: 8, block: [128, 1, 1] }.freeze
EXPECTED = Array.new(COUNT) { |i| i * i + 0.5 }.freeze
$passed = $failed = 0

def check(name)
  yield
  $passed += 1
rescue StandardError => error
  $failed += 1
  puts "failed: #{name}: #{error.message} #{error.backtrace.first(3).join(" ")}"
ensure
  GC.start
end

def equal(found, expected)
  raise "#{found.inspect}, not #{expected.inspect}" unless found == expected
end

def fails(kind, status = nil)
  yield
rescue kind => error
  equal(error.status, status) if status
  error
else
  raise "nothing was raised"
end

Session = Struct.new(:runtime, :mod, :chain, :x, :y, :z) do
  def result(stream: nil) = runtime.read(z, stream: stream).unpack("e*")
end

def session
  runtime = Griddep.open(driver: "emulated")
  mod = runtime.load(PTX, name: "chain.ptx")
  x = runtime.copy_in((0...COUNT).to_a.pack("e*"))
  y, z = Array.new(2) { runtime.allocate(4 * COUNT) }
  chain = runtime.chain.add(mod.kernel("square"), [x, y, COUNT], **SHAPE).add(mod.kernel("shift"), [y, z, 0.5, COUNT], **SHAPE)
  Session.new(runtime, mod, chain, x, y, z)
end

check("every mode") do
  on = session
  stream = on.runtime.stream
  %w[serial pdl graph graph-pdl].each do |mode|
    on.runtime.write(on.z, "\0" * 4 * COUNT)
    on.chain.prepare(mode)
    on.chain.run(mode, stream: stream)
    equal(on.result(stream: stream), EXPECTED)
    equal(on.chain.hop(mode, 1).reason, mode.include?("pdl") ? Griddep::REASON_SET : Griddep::REASON_OFF)
  end
  on.chain.reaches(0, [[on.x, 4, Griddep::ACCESS_READ]])
  fails(Griddep::Error, Griddep::ERROR_ARGUMENT) { on.chain.reaches(0, [[on.x, 4, Griddep::ACCESS_UNKNOWN]]) }
  equal(on.chain.hop("pdl", 1).reason, Griddep::REASON_SET)
  unknown = fails(Griddep::Error, Griddep::ERROR_NOT_FOUND) { on.chain.run("sideways") }
  raise unknown unless unknown.message.include?('no mode "sideways"; there are serial')
end

check("overlap shortens the chain") do
  on = session
  serial, pdl = %w[serial pdl].map { |mode| on.runtime.time { on.chain.run(mode) } }
  raise "#{pdl} is not less than #{serial}" unless pdl < serial
end

check("arguments") do
  on = session
  kernel = on.mod.kernel("shift")
  equal(kernel.parameters.map(&:type), %w[u64 u64 f32 u32])
  [[on.x, on.z, 2.5, COUNT], [on.x.address, on.z.address, [2.5].pack("e"), COUNT]].each do |arguments|
    on.runtime.write(on.z, "\0" * 4 * COUNT)
    equal(kernel.launch(arguments, **SHAPE), Griddep::REASON_SET)
    equal(on.result[3], 5.5)
  end
  fails(Griddep::Error, Griddep::ERROR_SIGNATURE) { kernel.launch([on.x, on.z, 2.5], **SHAPE) }
  fails(TypeError) { kernel.launch([on.x, on.z, nil, COUNT], **SHAPE) }
  fails(RangeError) { kernel.launch([on.x, on.z, 2.5, 1 << 32], **SHAPE) }
end

check("options and numbers that do not exist are refused") do
  on = session
  kernel = on.mod.kernel("square")
  launch = ->(*last, **changes) { kernel.launch([on.x, on.y, *(last.empty? ? [COUNT] : last)], **SHAPE.merge(changes)) }
  [
    [/no option shared_memory; there are .*shared_bytes/, -> { launch.(shared_memory: 4) }],
    [/no option drvier/, -> { Griddep.open(drvier: "nvidia") }],
    [/device 99 does not exist/, -> { Griddep.open(driver: "emulated", device: 99) }],
    [/grid is \[4294967297, 0, 0\], which does not fit/, -> { launch.(grid: 2**32 + 1) }],
    [/grid is \[1, 1.5, 0\], which does not fit/, -> { launch.(grid: [1, 1.5]) }],
    [/block is \[-1, 0, 0\], which does not fit/, -> { launch.(block: -1) }],
    [/grid has 4 dimensions/, -> { launch.(grid: [1, 1, 1, 1]) }],
    [/shared_bytes is 4294967312, which does not fit/, -> { launch.(shared_bytes: 2**32 + 16) }],
    [/shared_bytes is "a", which does not fit/, -> { launch.(shared_bytes: "a") }],
    [/argument 2: -1099511627776 is no .u32/, -> { launch.(-2**40) }],
    [/argument 2: 10.5 is no .u32/, -> { launch.(10.5) }],
    [/takes 3 arguments, 4 are given/, -> { launch.(COUNT, 5) }],
    [/bytes is -1, which is no size/, -> { on.runtime.allocate(-1) }],
    [/bytes is 18446744073709551620, which is no size/, -> { on.runtime.allocate(2**64 + 4) }],
    [/4004 bytes do not fit into memory of 4000/, -> { on.runtime.write(on.z, "\0" * 4004) }],
    [/8000 bytes do not fit into memory of 4000/, -> { on.runtime.read(on.z, 8000) }],
    [/5 is no image/, -> { on.runtime.load(5) }],
    [/5 is no text/, -> { on.mod.kernel(5) }],
    [/is no text/, -> { on.mod.kernel("square\0") }],
    [/5 is no text/, -> { on.runtime.load_shelf(5) }],
  ].each do |message, wrong|
    error = fails(StandardError, &wrong)
    raise "#{error.message} is not #{message}" unless error.message =~ message
  end
  # Compilers write .u32 for int too.
  equal(on.mod.kernel("shift").launch([on.x, on.z, 0.5, -1], grid: 1, block: 1), Griddep::REASON_SET)
end

check("what was closed is refused") do
  on = session
  stream, kernel, other, memory = on.runtime.stream, on.mod.kernel("square"), on.runtime.load_file(ENV["PTX"]), on.runtime.allocate(4 * COUNT)
  of_other = other.kernel("square")
  [memory, stream, other].each(&:close)
  [
    ["memory", -> { kernel.launch([on.x, memory, COUNT], **SHAPE) }],
    ["memory", -> { on.runtime.read(memory) }],
    ["memory", -> { on.runtime.write(memory, "\0" * 4) }],
    ["stream", -> { kernel.launch([on.x, on.y, COUNT], stream: stream, **SHAPE) }],
    ["stream", -> { on.runtime.synchronize(stream) }],
    ["stream", -> { on.chain.run("pdl", stream: stream) }],
    ["kernel's module", -> { of_other.launch([on.x, on.y, COUNT], **SHAPE) }],
    ["kernel's module", -> { on.chain.add(of_other, [on.x, on.y, COUNT], **SHAPE) }],
  ].each do |what, use|
    equal(fails(Griddep::Error, Griddep::ERROR_ARGUMENT, &use).message, "GRIDDEP_ERROR_ARGUMENT: the #{what} has been closed")
  end
end

check("texts and names that are no UTF-8") do
  broken = PTX.b.sub("add.f32 %v, %v, %b;", "add.f32 %v, %v \xff %b;".b)
  error = fails(Griddep::Error, Griddep::ERROR_SYNTAX) { session.runtime.load(broken, name: "\xe9.ptx".b) }
  equal([error.file.b, error.line], ["\xe9.ptx".b, 57])
  equal(error.message.include?('add.f32 %v, %v \xff %b;'), true)
end

check("errors have status and position") do
  on = session
  error = fails(Griddep::Error, Griddep::ERROR_SYNTAX) do
    on.runtime.load(PTX.sub("add.f32 %v, %v, %b;", "add.f32 %v, %v %b;"), name: "broken.ptx")
  end
  equal([error.name, error.file, error.line, error.column], ["GRIDDEP_ERROR_SYNTAX", "broken.ptx", 57, 20])
  equal(error.message.include?("57 | "), true)
  fails(Griddep::Error, Griddep::ERROR_NOT_FOUND) { on.mod.kernel("cube") }
end

check("collection while the device works") do
  runtime, z = proc do
    on = session
    on.chain.run("pdl")
    [on.runtime, on.z]
  end.call
  GC.start
  equal(runtime.read(z).unpack("e*"), EXPECTED)
end

check("finalizers and work in other threads") do
  on = session
  threads = Array.new(4) do
    Thread.new do
      20.times { on.runtime.load(PTX).kernel("shift").launch([on.x, on.runtime.allocate(4 * COUNT), 1.0, COUNT], **SHAPE) }
      GC.start
    end
  end
  threads.each(&:join)
  on.runtime.synchronize
  on.chain.run("pdl")
  equal(on.result, EXPECTED)
end

check("closing in any order") do
  on = session
  on.runtime.close
  fails(Griddep::Error, Griddep::ERROR_ARGUMENT) { on.runtime.info }
  on.chain.run("pdl")
  on.mod.close
  2.times { on.chain.close }
  fails(Griddep::Error, Griddep::ERROR_ARGUMENT) { on.chain.run("pdl") }
  [on.x, on.y, on.z].each(&:close)
end

check("log from several threads, and an exception in it") do
  heard = Queue.new
  log = proc do |_level, message|
    heard << [Thread.current, message]
    raise "from a log function"
  end
  runtime = Griddep.open(driver: "emulated", log: log, log_level: Griddep::LOG_DEBUG)
  Array.new(2) { Thread.new { runtime.load(PTX) } }.each(&:join)
  threads = Array.new(heard.size) { heard.pop.first }
  equal(threads.uniq.size > 1, true)
end

check("a child of fork ends nothing") do
  on = session
  on.chain.run("graph-pdl")
  runtime, address, word = on.runtime.handle, on.x.address, Fiddle::Pointer.malloc(4, Fiddle::RUBY_FREE)
  child = fork do
    [on.chain, on.mod, on.x, on.runtime].each(&:close)
    # A driver refuses each call in a child; what is closed there ends nothing of the parent's.
    exit!(!Griddep::Raw.griddep_memory_read(runtime, word, address, 4, nil, nil).zero?)
  end
  Process.wait(child)
  equal($?.success?, true)
  equal(on.result, EXPECTED)
end

puts "#{$passed} passed, #{$failed} failed, 0 skipped"
exit($failed.zero?)
