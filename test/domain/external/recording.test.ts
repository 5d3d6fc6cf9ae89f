import { describe, expect, it, test } from 'vitest'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Hiding } from '../../../domain/ports/external.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { ENDED, puppetGateway, settled } from '../../support/external/in-process.ts'

// DESIGN, External runs: one stored event holds a batch; back-pressure comes from appends only.

const batches = (events: readonly { type: string; body: unknown }[]) =>
  events.flatMap(({ type, body }) => (type === 'agent_events' ? [(body as { events: unknown[] }).events.length] : []))

describe('batches', () => {
  it('a batch is recorded when it is full, or 50 ms after its first event', async () => {
    let now = 1_000
    const slept: { ms: number; wake: () => void }[] = []
    const clock = { now: () => now, sleep: (ms: number) => new Promise<void>((wake) => slept.push({ ms, wake })) }
    const { gateway, puppet, log } = puppetGateway({ clock })
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.emit({ events: Array.from({ length: 300 }, () => ({ kind: 'Status' as const, message: 'm' })) })
    await new Promise(setImmediate)
    expect(batches(log.last.events)).toEqual([256])
    expect(slept.map(({ ms }) => ms)).toEqual([50])
    now += 50
    slept[0]!.wake()
    await settled(run.completion)
    expect(batches(log.last.events)).toEqual([256, 44])
    puppet.exit()
    await run.completion
    expect(batches(log.last.events)).toEqual([256, 44])
  })

  it('what is left is recorded before the end', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text('a')
    puppet.exit()
    await run.completion
    expect(log.last.events.slice(3).map(({ type }) => type)).toEqual(['agent_events', 'external_ended'])
  })
})

describe('back-pressure', () => {
  it('the backend waits while one append is under way and another one waits', async () => {
    const gate = Promise.withResolvers<void>()
    const { gateway, puppet, log } = puppetGateway()
    log.onBegin = (run) => {
      run.before = () => gate.promise
    }
    const run = await gateway.run('fake', { prompt: 'go' })
    const full = () => puppet.text(...Array.from({ length: 256 }, () => 't'))
    expect(await settled(full())).toBe(true)
    const second = full()
    expect(await settled(second)).toBe(false)
    gate.resolve()
    await second
    puppet.exit()
    await run.completion
    expect(batches(log.last.events)).toEqual([256, 256])
  })

  it('a consumer that never reads holds up nothing', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    for (let i = 0; i < 20; i++) await puppet.text(...Array.from({ length: 256 }, () => 't'))
    puppet.exit()
    expect(await run.completion).toEqual(ENDED)
  })
})

test('an append that fails ends the process, and the completion says so', async () => {
  const { gateway, puppet, log } = puppetGateway()
  log.onBegin = (run) => {
    run.before = (commands: readonly ExternalCommand[]) =>
      commands.some(({ kind }) => kind === 'batch') ? Promise.reject(new Error('no room on the disk')) : undefined
  }
  const run = await gateway.run('fake', { prompt: 'go' })
  const reader = run.events[Symbol.asyncIterator]()
  const next = reader.next()
  next.catch(() => undefined)
  await puppet.text(...Array.from({ length: 256 }, () => 't'))
  await expect(run.completion).rejects.toThrow('the run could not be recorded: no room on the disk')
  await expect(next).rejects.toThrow('no room on the disk')
  expect(puppet.run!.signal.aborted).toBe(true)
  await expect(puppet.text('more')).rejects.toThrow('no room')
})

describe('what a backend reports', () => {
  const usage = { scope: 'run', inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, cost: null } as const
  it.each([
    ['less than none', { ...usage, inputTokens: -5 }],
    ['no number', { ...usage, outputTokens: Number.NaN }],
    ['no whole number', { ...usage, outputTokens: 1.5 }],
    ['more than a number holds', { ...usage, inputTokens: 2 ** 53 }],
    ['more tokens than any run can use', { ...usage, inputTokens: 2e12 }],
    ['more money than any run can use', { ...usage, cost: { nanoDollars: 2e13, scope: 'run' as const } }],
  ])('a usage of %s is told as an error, and the run goes on', async (_, told) => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.emit({ usage: told })
    puppet.exit()
    expect(await run.completion).toEqual(ENDED)
    expect(log.last.state).toMatchObject({ usage: null, stage: { at: 'ended' } })
    expect(log.last.events.flatMap(({ type, body }) => (type === 'agent_events' ? [body] : []))).toMatchObject([
      { events: [{ kind: 'Error' }] },
    ])
  })

  it('of permissions that are asked for at once so many wait, and the rest is rejected', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    const ask = (n: number) => puppet.ask({ tool: 'edit', title: `ask ${n}`, input: { n } })
    const waiting = Array.from({ length: 32 }, (_, n) => ask(n))
    expect(await Promise.all([ask(32), ask(33)])).toEqual(['rejected', 'rejected'])
    puppet.exit()
    await run.completion
    expect(log.last.state.permissions.asked).toBe(32)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([null]))
  })

  it('what cannot be stored ends the run in the log too, lest it seem at work for ever', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    void puppet.emit({ events: [{ kind: 'Nonsense' as 'Status' }] })
    await expect(run.completion).rejects.toThrow('the run could not be recorded')
    expect(log.last.state.stage).toMatchObject({ at: 'ended', outcome: { kind: 'failed' } })
  })

  it('an exit status that is none ends it in the log too', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    puppet.exit({ ...ENDED, status: { code: 0.5, signal: null } })
    await expect(run.completion).rejects.toThrow('the run could not be recorded')
    expect(log.last.state.stage).toMatchObject({ at: 'ended', outcome: { kind: 'failed' } })
  })
})

test('a log that takes no run refuses it before anything is started', async () => {
  const { gateway, puppet, log } = puppetGateway()
  log.onBegin = () => {
    throw new Error('the log is full')
  }
  await expect(gateway.run('fake', { prompt: 'go' })).rejects.toThrow('the run could not be recorded: the log is full')
  expect(puppet.started).toBe(0)
})

const redactor = createRedactor({ key: new Uint8Array(32).fill(7), known: ['sec-ret'] })
const hiding: Hiding = {
  value: <T extends Json>(value: T): T => redactor.redactJson(value).value as T,
  texts: () => redactor.redactTexts(),
}

test('secrets are hidden in all that is recorded, also parted between two pieces of text', async () => {
  const { gateway, puppet, log } = puppetGateway({ hiding })
  const run = await gateway.run('fake', {
    prompt: 'use sec-ret',
    env: { KEY: 'sec-ret' },
    extensions: { 'agent_api.config.model.v1': 'sec-ret-model' },
  })
  await puppet.text('one sec', '-ret two', ' three')
  await puppet.emit({ events: [{ kind: 'ToolCall', message: 'a sec-ret', data: { 'sec-ret': ['sec-ret'] } }] })
  await puppet.text('sec')
  await puppet.emit({ events: [{ kind: 'TextOutput', text: '-ret', channel: 'sec-ret', data: { more: 'sec-ret' } }] })
  puppet.exit({ ...ENDED, finalText: 'the sec-ret' })
  const hidden = redactor.redactText('sec-ret').value
  expect((await run.completion).finalText).toBe(`the ${hidden}`)
  expect(JSON.stringify(log.last.events)).not.toMatch(/sec-ret/)
  const told: AgentEventBody[] = []
  for await (const { agentKind: _, ...event } of run.events) told.push(event)
  expect(told).toEqual([
    { kind: 'TextOutput', text: 'one ' },
    { kind: 'TextOutput', text: hidden, continues: true },
    { kind: 'TextOutput', text: ' two' },
    { kind: 'TextOutput', text: ' three' },
    { kind: 'ToolCall', message: `a ${hidden}`, data: { [hidden]: [hidden] } },
    // A text of another channel follows, so that this beginning of a secret is shown.
    { kind: 'TextOutput', text: 'sec' },
    { kind: 'TextOutput', text: '-ret', channel: hidden, data: { more: hidden } },
  ])
})

test('secrets are hidden before a text is cut at its bound', async () => {
  const { gateway, puppet, log } = puppetGateway({ hiding })
  const run = await gateway.run('fake', { prompt: 'go' })
  await puppet.emit({ events: [{ kind: 'Error', message: `${'m'.repeat(4_079)}sec-ret${'m'.repeat(50)}` }] })
  puppet.exit()
  await run.completion
  expect(JSON.stringify(log.last.events)).not.toContain('sec-')
})
