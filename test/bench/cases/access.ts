import { join } from 'node:path'
import { createApp } from '../../../api/http/app.ts'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { newKey } from '../../../api/operations/access/key-text.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { AccessCommand } from '../../../domain/access/decide.ts'
import { context } from '../../../domain/store/aggregate.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, most, ms } from '../figure.ts'
import { Pairs, timed } from '../measure.ts'

// What identifying a principal by its key adds to a request, with many principals and keys.

const TOKEN = 'a-token-that-is-long-enough-for-the-bench'
const REQUESTS = 2_000
const PRINCIPALS = 1_000
const KEYS_EACH = 10

async function openApp(folder: string) {
  const services = await openServices(ConfigSchema.parse({ data: folder }), 'owner', { autoDrive: false })
  const app = createApp(services, {
    ...{ token: () => TOKEN, hosts: [], maxBodyBytes: 65_536, heartbeatMs: 15_000, version: 'bench' },
    onFault(error) {
      throw error
    },
  })
  const ask = async (credential: string) => {
    const headers = { authorization: `Bearer ${credential}` }
    const answer = await app.fetch(new Request('http://localhost/v1/runs?limit=20', { headers }), OVER_NETWORK)
    if (answer.status !== 200) throw new Error(await answer.text())
    await answer.arrayBuffer()
  }
  return { services, ask }
}

type Opened = Awaited<ReturnType<typeof openApp>>

/** Turns access on with 1,000 principals and 10,000 keys. Returns the text of one key. */
async function populate({ services: { access, random } }: Opened): Promise<string> {
  const by = { kind: 'user', id: 'bench' } as const
  const { id, hash, text } = newKey(random)
  const key = { key: id, hash, rights: null, expiresAt: null }
  const tell = (command: AccessCommand, n: number) => access.change(command, { by, commandId: `bench:${n}` })
  await tell({ kind: 'begin', admin: { principal: 'ann', kind: 'person', name: 'Ann' }, key }, 0)
  for (let n = 1; n <= PRINCIPALS; n++) {
    const principal = `person${n}`
    await tell({ kind: 'add', as: { principal, kind: 'person', name: principal }, roles: ['viewer'] }, n * 100)
    for (let k = 1; k <= KEYS_EACH; k++) {
      const made = newKey(random)
      const record = { key: made.id, hash: made.hash, rights: null, expiresAt: null }
      await tell({ kind: 'create_key', principal, key: record }, n * 100 + k)
    }
  }
  return text
}

/** As many events in the log of the floor, because the time of a list depends on the size of the log. */
async function fill({ services: { streams } }: Opened, events: number): Promise<void> {
  const mailbox = streams.mailbox(context, 'bench')
  const by = { kind: 'user', id: 'bench', claimed: true } as const
  for (let n = 0; n < events; n++)
    await mailbox.submit({ kind: 'set', key: `k${n % 100}`, value: n }, { by, commandId: `fill:${n}` }, { fact: false })
}

export const accessCase: Case = {
  name: 'access',
  async run(bench: Bench): Promise<Figure[]> {
    const [off, on] = [await openApp(join(bench.folder, 'access-off')), await openApp(join(bench.folder, 'access-on'))]
    const key = await populate(on)
    await fill(off, PRINCIPALS * (KEYS_EACH + 2))
    const pairs = new Pairs()
    const slowest: number[] = []
    const many = (ask: Opened['ask'], credential: string, times?: number[]) =>
      timed(async () => {
        for (let n = 0; n < REQUESTS; n++) {
          const begun = performance.now()
          await ask(credential)
          times?.push(performance.now() - begun)
        }
      })
    const rounds = bench.quick ? 3 : 11
    for (let round = 0; round <= rounds; round++) {
      const times: number[] = []
      const withKey = () => many(on.ask, key, times)
      const withToken = () => many(off.ask, TOKEN)
      const [first, second] = round % 2 === 0 ? [withKey, withToken] : [withToken, withKey]
      const [a, b] = [await first(), await second()]
      if (round === 0) continue
      pairs.add(round % 2 === 0 ? a : b, round % 2 === 0 ? b : a)
      slowest.push(times.sort((x, y) => x - y)[Math.floor(REQUESTS * 0.99)]!)
    }
    await Promise.all([off.services.close(), on.services.close()])
    const { ours, floor, ratio } = pairs.of('cpuMs')
    const ratios = pairs.ours.map((took, at) => took.cpuMs / pairs.floor[at]!.cpuMs)
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    return [
      {
        name: `CPU of a request with one of ${PRINCIPALS * KEYS_EACH} keys`,
        ours: ms(ours / REQUESTS),
        floor: ms(floor / REQUESTS),
        value: ratio,
        goal: most(1.1, ' ×'),
        note: `floor: the same request with the token, access off; ${range}; p99 ${Math.max(...slowest).toFixed(2)} ms`,
      },
    ]
  },
}
