import { monitorEventLoopDelay } from 'node:perf_hooks'
import { loadConfig } from '../../api/process/config/settings.ts'
import { openServices } from '../../api/process/open-services.ts'
import { localBackend } from '../../api/process/owner/local.ts'

// The server of test/bench/load.ts: a data folder behind HTTP, with appends at a steady rate. Messages: {append: {rate, seconds}} is
// answered with {appended, longestMs}, `used` with {rss, heap} in bytes, {cpuMs} since the start,
// and {loopP99, loopMax}: delays of the event loop since the last `used`, in ms. `close` is answered with {}.

const [, , data = ''] = process.argv
const config = loadConfig({ flags: { data, port: 0 }, env: {} })
const services = await openServices(config, 'owner', { autoDrive: false })
if (services === null) throw new Error(`${data} cannot be opened`)
const backend = await localBackend(services, {
  ...{ config, env: {}, tcp: true },
  onFault: (error, path) => process.stderr.write(`${path}: ${String(error)}\n`),
})

const loop = monitorEventLoopDelay({ resolution: 5 })
loop.enable()

/** The streams that the appends go to, each by a person of its own, so that the watchers of one person see a part of them. */
const STORES = 10

/** Appends `rate` events in each second, without waiting for one before the next. Rejects if one fails. */
async function append(rate: number, seconds: number) {
  const stores = Array.from({ length: STORES }, (_, n) =>
    services!.contexts.open(`load-${n}`, { kind: 'user', id: `load-${n}` }),
  )
  const started = performance.now()
  const pending: Promise<void>[] = []
  let longestMs = 0
  for (let n = 0; n < rate * seconds; n++) {
    const due = started + (n * 1000) / rate
    const early = due - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
    const at = performance.now()
    pending.push(
      stores[n % STORES]!.set(`k${n % 500}`, { n, text: 'x'.repeat(200) }).then(() => {
        longestMs = Math.max(longestMs, performance.now() - at)
      }),
    )
    if (pending.length === 1000) await Promise.all(pending.splice(0))
  }
  await Promise.all(pending)
  return { appended: rate * seconds, longestMs }
}

type Asked = { readonly append: { readonly rate: number; readonly seconds: number } } | 'used' | 'close'

process.on('message', async (asked: Asked) => {
  if (asked === 'used') {
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const [loopP99, loopMax] = [loop.percentile(99), loop.max].map((ns) => ns / 1e6)
    loop.reset()
    process.send?.({ rss, heap: heapUsed, cpuMs: (user + system) / 1000, loopP99, loopMax })
  } else if (asked === 'close') {
    await backend.close()
    process.send?.({})
    process.disconnect?.()
  } else process.send?.(await append(asked.append.rate, asked.append.seconds))
})
process.send?.({ url: backend.url })
