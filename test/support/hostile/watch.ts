import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into the watched process (node --import): writes its longest stall and its memory once a second. A stall is
// measured in wall time and in CPU time of its thread. On a busy machine only the CPU time shows the work of the
// program.

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
