import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { VerifiedHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { Forger, jsonOf } from '../../support/attacks/forger.ts'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data, root, start } = folder

async function write(values: readonly string[]) {
  await using keepup = await openKeepUp({ data, by: 'ann' })
  for (const value of values) await keepup.contextStore('review').set('goal', value)
}

/** Writes more, then puts back the log, its mark and the tables of before. Only the signed heads know more. */
async function putBack() {
  const whole = join(root, 'whole')
  rmSync(whole, { recursive: true, force: true })
  cpSync(data, whole, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  await write(['two', 'three'])
  for (const part of ['log', 'tables']) {
    rmSync(join(data, part), { recursive: true })
    cpSync(join(whole, part), join(data, part), { recursive: true })
  }
}

it('a signed head tells at the start that the log lost its end; an accepted loss begins a new origin', async () => {
  await write(['one'])
  await putBack()
  await expect(write(['four'])).rejects.toMatchObject({ code: 'LOG_SHORTENED' })
  const told = await look('repair')
  expect([told.code, told.out]).toEqual([5, expect.stringContaining('but its signed heads have seen position')])
  expect(told.err).toContain('restore a backup of the log that holds it')
  expect(await look('repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  await write(['four'])
  expect(await look('repair')).toMatchObject({ code: 0 })
  const origins = JSON.parse((await look('-o', 'json', 'sql', 'select reason from log_origins order by origin')).out)
  expect(origins).toEqual([{ reason: 'first' }, { reason: 'loss' }])
  const verified = await look('verify')
  expect(verified).toMatchObject({ code: 0 })
  const [, kept, knew, gone] = verified.out
    .match(
      /heads: hold.*\n {2}a loss accepted by \S+ at \S+: (\d+) events kept, the head of \d+ events knew (\d+): (\d+) are gone/,
    )!
    .map(Number)
  expect(gone).toBe(knew! - kept!)
  expect(gone).toBeGreaterThan(0)
})

/** Nothing tells of a loss any more, and log, tables and heads agree, also about what is written now. */
async function consistent(value: string) {
  expect(await look('repair')).toMatchObject({ code: 0, out: expect.not.stringContaining('has lost') })
  await write([value])
  expect(await look('verify')).toMatchObject({ code: 0, out: expect.stringMatching(/^all holds; /m) })
  const { code, out } = await look('rebuild')
  expect([code, out]).toEqual([0, expect.stringContaining('the tables are equal')])
}

/** A process that serves the shortened log with live tables, because only the heads tell of the loss. */
async function serveShortened(env: Record<string, string> = {}) {
  await putBack()
  const serve = start(['serve', '--port', '0'], { env })
  await serve.said('serving')
  expect(serve.err()).toContain('its signed heads have seen position')
  return serve
}

it('a loss accepted while a process serves live tables stays accepted when that process is killed', async () => {
  const serve = await serveShortened()
  expect(await look('repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  serve.process.kill('SIGKILL')
  await serve.ended
  await consistent('five')
})

it('a loss accepted while a process serves goes on in that process', async () => {
  const serve = await serveShortened()
  expect(await look('repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  expect(await look('docs', 'create', '--title', 'six')).toMatchObject({ code: 0 })
  expect(await look('verify')).toMatchObject({ code: 0, out: expect.stringMatching(/^all holds; /m) })
  serve.process.kill('SIGTERM')
  await serve.ended
  await consistent('seven')
})

it('a loss whose acceptance is recorded is not shown again when the process dies before the tables are made again', async () => {
  const serve = await serveShortened({ KEEPUP_CRASH_AT: 'loss_accepted:1' })
  expect((await look('repair', '--accept-loss', '--yes')).code).not.toBe(0)
  expect(await serve.ended).toMatchObject({ signal: 'SIGKILL' })
  await consistent('eight')
})

it('an accepted loss does not excuse a rewritten event that was kept', async () => {
  const events = await keptEvents()
  const event = events.find(({ header }) => header.type === 'variable_set')!
  const forger = new Forger(data)
  forger.rewrite(events, (one) => (one === event ? { body: { ...jsonOf(one), value: 'forged' } } : null))
  forger.remark()
  forger.close()
  rmSync(join(data, 'tables'), { recursive: true })
  const lines = (await look('-o', 'jsonl', 'verify')).out.trim().split('\n')
  const { heads } = lines.map((line) => JSON.parse(line) as { heads?: VerifiedHeads }).find((one) => one.heads)! as {
    heads: VerifiedHeads
  }
  const first = Math.min(...heads.losses.map(({ kept }) => kept))
  const named = heads.problems.filter(({ code, size }) => code === 'HEAD' && size !== null && size <= first)
  expect(named.length).toBeGreaterThan(0)
})

async function keptEvents(): Promise<RecordedEvent[]> {
  await using keepup = await openKeepUp({ data, by: 'ann' })
  return (await Array.fromAsync(keepup.services.log.readAll(null, { everyKind: true }))).flat()
}
