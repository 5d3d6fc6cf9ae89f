import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

// Loaded into the process that is watched (node --import): writes its longest stall and its memory, once a second.

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()
setInterval(() => {
  const { rss, heapUsed } = process.memoryUsage()
  const line = { stallMs: delay.max / 1e6, rss, heapUsed, cpu: process.cpuUsage(), at: Date.now() }
  delay.reset()
  appendFileSync(process.env.KEEPUP_WATCH!, `${JSON.stringify(line)}\n`)
}, 1_000).unref()
