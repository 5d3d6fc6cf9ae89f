import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into the watched process (node --import) that was spawned with an IPC channel. Each message is answered with the
// longest hold of the event loop since the last one, in ms: by the clock, and in CPU time of the thread. On a busy
// machine only the CPU time shows the work of the program.

/** The longest hold since the last message, in ms. */
export interface Held {
  readonly wallMs: number
  readonly cpuMs: number
}

/** The time between two looks, in ms. A shorter one would cost the program CPU time of its own. */
const TICK_MS = 2

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

const used = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}
let [before, cpuMs] = [used(), 0]
const look = () => {
  const now = used()
  cpuMs = Math.max(cpuMs, now - before)
  before = now
}
setInterval(look, TICK_MS).unref()

process.on('message', () => {
  look()
  process.send?.({ wallMs: delay.max / 1e6, cpuMs } satisfies Held)
  delay.reset()
  cpuMs = 0
})
// The channel must not keep the program alive.
process.channel?.unref()
