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
  fails(ArgumentError) { on.chain.run("sideways") }
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
  handle = on.chain.handle
  child = fork do
    [on.chain, on.mod, on.x, on.runtime].each(&:close)
    exit!(Griddep::Raw.griddep_chain_length(handle) == 2)
  end
  Process.wait(child)
  equal($?.success?, true)
  equal(on.result, EXPECTED)
end

puts "#{$passed} passed, #{$failed} failed, 0 skipped"
exit($failed.zero?)
