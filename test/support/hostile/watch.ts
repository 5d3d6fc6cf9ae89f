import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into the process that is watched (node --import): writes its longest stall and its memory, once a second. A stall
// is told in time and in the processor time of its thread: on a busy machine only the second one says what the program did.

const TICK_MS = 5

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()

const used = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}
let [before, stallCpuMs] = [used(), 0]
setInterval(() => {
  const now = used()
  stallCpuMs = Math.max(stallCpuMs, now - before)
  before = now
}, TICK_MS).unref()

setInterval(() => {
  const { rss, heapUsed } = process.memoryUsage()
  const line = { stallMs: delay.max / 1e6, stallCpuMs, rss, heapUsed, cpu: process.cpuUsage(), at: Date.now() }
  delay.reset()
  stallCpuMs = 0
  appendFileSync(process.env.KEEPUP_WATCH!, `${JSON.stringify(line)}\n`)
}, 1_000).unref()
