// Loaded before a program with `--import`: KEEPUP_SKEW="7200000 0.5" sets its wall clock two hours ahead, and lets it run
// at half the speed from there. Other clocks of the process, and its timers, are right.

const [offset = 0, speed = 1] = (process.env.KEEPUP_SKEW ?? '').split(' ').filter(Boolean).map(Number)
const RealDate = Date
const began = RealDate.now()
const now = () => Math.floor(began + offset + (RealDate.now() - began) * speed)

if (offset !== 0 || speed !== 1)
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
