import { describe, expect, it, test } from 'vitest'
import { AgentError, NOT_TERMINATED } from '../../../domain/external/errors.ts'
import type { ExternalAgentEvent } from '../../../domain/ports/external.ts'
import { ENDED, Puppet, puppetGateway, settled } from '../../support/external/in-process.ts'

// CONTRACTS 13, sentence by sentence.

const all = async (events: AsyncIterable<ExternalAgentEvent>) => {
  const list: ExternalAgentEvent[] = []
  for await (const event of events) list.push(event)
  return list
}
const code = (of: string) => expect.objectContaining({ name: 'AgentError', code: of })
const textsOf = (events: readonly ExternalAgentEvent[]) => events.map(({ text }) => text)

describe('13 Interface', () => {
  it('a second registration of a kind is rejected, and so is a malformed kind', () => {
    const { gateway, puppet } = puppetGateway()
    expect(() => gateway.register(puppet.backend)).toThrow(code('InvalidAgentKind'))
    expect(() => gateway.register({ ...puppet.backend, kind: 'Fake' })).toThrow(code('InvalidAgentKind'))
  })

  it('run rejects with UnknownBackend before any other check', async () => {
    const { gateway } = puppetGateway()
    for (const kind of ['other', 'NOT A KIND', '__proto__'])
      await expect(gateway.run(kind, { prompt: '', wrong: 1 } as never)).rejects.toThrow(code('UnknownBackend'))
  })

  it('names kinds and capabilities', () => {
    const { gateway, puppet } = puppetGateway()
    expect(gateway.kinds()).toEqual(['fake'])
    expect(gateway.capabilities('fake')).toEqual([...puppet.backend.capabilities].sort())
    expect(() => gateway.capabilities('other')).toThrow(code('UnknownBackend'))
  })
})

describe('13 Validation', () => {
  it('precedes every spawn, and nothing is recorded of a refused request', async () => {
    const { gateway, puppet, log } = puppetGateway()
    await expect(gateway.run('fake', { prompt: ' ' })).rejects.toThrow(code('InvalidRequest'))
    await expect(
      gateway.run('fake', { prompt: 'go', extensions: { 'agent_api.session.resume.v1': { selector: 'last' } } }),
    ).rejects.toThrow(code('UnsupportedCapability'))
    expect([puppet.started, log.runs.length]).toEqual([0, 0])
  })

  it('an operation that becomes unsupported mid-run gives that error, and one Error event', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text('a')
    puppet.fail(new AgentError('UnsupportedCapability', 'the session cannot be resumed'))
    expect((await all(run.events)).map(({ kind, message }) => [kind, message])).toEqual([
      ['TextOutput', undefined],
      ['Error', 'the session cannot be resumed'],
    ])
    await expect(run.completion).rejects.toThrow(code('UnsupportedCapability'))
  })
})

describe('13 Completion', () => {
  it('settles after the process has exited and the events have ended for the consumer', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    const order: string[] = []
    const done = run.completion.then(() => order.push('completion'))
    const consumer = (async () => {
      for await (const { text } of run.events) {
        order.push(text!)
        // A consumer that takes its time.
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      }
      order.push('end')
    })()
    await puppet.text('a', 'b')
    expect(await settled(run.completion)).toBe(false)
    await puppet.text('c')
    puppet.exit()
    await Promise.all([consumer, done])
    expect(order).toEqual(['a', 'b', 'c', 'end', 'completion'])
    expect(await run.completion).toEqual(ENDED)
  })

  it('settles after a consumer behind generators of its own has seen the end', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    const order: string[] = []
    const relay = async function* (
      events: AsyncIterable<ExternalAgentEvent>,
      depth: number,
    ): AsyncGenerator<ExternalAgentEvent> {
      if (depth === 0) yield* events
      else yield* relay(events, depth - 1)
    }
    const consumer = (async () => {
      for await (const { text } of relay(run.events, 5)) order.push(text!)
      order.push('end')
    })()
    const done = run.completion.then(() => order.push('completion'))
    await puppet.text('a')
    puppet.exit()
    await Promise.all([consumer, done])
    expect(order).toEqual(['a', 'end', 'completion'])
  })

  it('is released by return() of the iterator', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text('a', 'b')
    const iterator = run.events[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toMatchObject({ agentKind: 'fake', text: 'a' })
    puppet.exit()
    expect(await settled(run.completion)).toBe(false)
    expect(await iterator.return!()).toEqual({ done: true, value: undefined })
    expect(await settled(run.completion)).toBe(true)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('return() answers a request that waits', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    const iterator = run.events[Symbol.asyncIterator]()
    const waiting = iterator.next()
    expect(await settled(waiting)).toBe(false)
    await iterator.return!()
    expect(await waiting).toEqual({ done: true, value: undefined })
    puppet.exit()
    await run.completion
  })

  it('is not delayed by events that the consumer never requests, and these stay readable', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text('a', 'b')
    puppet.exit()
    expect(await run.completion).toEqual(ENDED)
    expect(textsOf(await all(run.events))).toEqual(['a', 'b'])
    expect(textsOf(await all(run.events))).toEqual(['a', 'b'])
  })

  it('a consumer that leaves a loop releases it', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text('a', 'b')
    for await (const _ of run.events) break
    puppet.exit()
    expect(await run.completion).toEqual(ENDED)
  })

  it('of a non-zero exit is a success with that status, an Error event, and no final text', async () => {
    for (const [status, message] of [
      [{ code: 3, signal: null }, 'fake ended with exit code 3'],
      [{ code: null, signal: 'SIGSEGV' }, 'fake was ended by SIGSEGV'],
    ] as const) {
      const { gateway, puppet, log } = puppetGateway()
      const run = await gateway.run('fake', { prompt: 'go' })
      puppet.exit({ status, success: true, finalText: 'half' })
      expect(await run.completion).toEqual({ status, success: false, finalText: null })
      expect(await all(run.events)).toEqual([{ agentKind: 'fake', kind: 'Error', message }])
      expect(log.last.events.at(-1)).toMatchObject({ body: { outcome: 'exited', exit: status, success: false } })
    }
  })

  it('a spawn failure arrives through the handle', async () => {
    const { gateway, puppet, log } = puppetGateway()
    puppet.fail(new AgentError('Backend', 'fake could not be started'))
    const run = await gateway.run('fake', { prompt: 'go' })
    await expect(run.completion).rejects.toThrow('fake could not be started')
    expect(await all(run.events)).toEqual([])
    expect(log.last.events.at(-1)).toMatchObject({ body: { outcome: 'failed', error: { code: 'Backend' } } })
  })

  it('a process that does not end is told as such, also where the run was cancelled', async () => {
    const { gateway, puppet, log } = puppetGateway()
    puppet.onAbort = () => puppet.fail(new AgentError('Backend', NOT_TERMINATED))
    const run = await gateway.run('fake', { prompt: 'go' })
    run.cancel()
    await expect(run.completion).rejects.toThrow('failed to terminate')
    expect(log.last.events.at(-1)).toMatchObject({ body: { outcome: 'failed' } })
  })

  it('the final text is cut at its bound', async () => {
    const { gateway, puppet } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    puppet.exit({ ...ENDED, finalText: `${'a'.repeat(65_535)}€` })
    expect((await run.completion).finalText).toBe('a'.repeat(65_535))
  })

  it('never tells what a fault of the backend says, which may be a line of the process', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    puppet.fail(new SyntaxError('Unexpected token in "the raw line"'))
    await expect(run.completion).rejects.toThrow('the backend has a fault')
    expect(JSON.stringify(log.last.events)).not.toContain('raw line')
  })
})

describe('13 Cancel', () => {
  it('ends as Backend "cancelled" after the exit, is recorded once, and is idempotent', async () => {
    const { gateway, puppet, log } = puppetGateway()
    let asked = 0
    puppet.onAbort = () => asked++
    const run = await gateway.run('fake', { prompt: 'go' })
    run.cancel('enough')
    run.cancel()
    expect(await settled(run.completion)).toBe(false)
    puppet.fail(new AgentError('Backend', 'cancelled', { exit: { code: null, signal: 'SIGTERM' } }))
    await expect(run.completion).rejects.toThrow(expect.objectContaining({ code: 'Backend', message: 'cancelled' }))
    run.cancel()
    expect(asked).toBe(1)
    expect(log.last.events.slice(3).map(({ type, body }) => [type, body])).toEqual([
      ['cancel_requested', { reason: 'enough' }],
      ['external_ended', { outcome: 'cancelled', exit: { code: null, signal: 'SIGTERM' } }],
    ])
  })

  it('works after release', async () => {
    const { gateway } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    const iterator = run.events[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await iterator.return!()
    await waiting
    run.cancel()
    await expect(run.completion).rejects.toThrow('cancelled')
  })

  it('is a no-op once the completion has settled', async () => {
    const { gateway, puppet, log } = puppetGateway()
    const run = await gateway.run('fake', { prompt: 'go' })
    puppet.exit()
    await run.completion
    const before = log.last.events.length
    run.cancel()
    await new Promise(setImmediate)
    expect(log.last.events.length).toBe(before)
    expect(puppet.run!.signal.aborted).toBe(false)
  })

  it('asyncDispose of the handle cancels', async () => {
    const { gateway, puppet } = puppetGateway()
    {
      await using run = await gateway.run('fake', { prompt: 'go' })
      void run.events[Symbol.asyncIterator]().next()
      await puppet.text('a')
    }
    expect(puppet.run!.signal.aborted).toBe(true)
  })
})

test('13 Backends: request, events, session, usage and end of every run are facts', async () => {
  const { gateway, puppet, log } = puppetGateway()
  const usage = { scope: 'run', inputTokens: 1, cachedInputTokens: 0, outputTokens: 2, cost: null } as const
  const run = await gateway.run('fake', { prompt: 'go', timeoutMs: 9, env: { B_KEY: 'v', A: '' } })
  await puppet.emit({ sessionId: 's1' })
  await puppet.text('a')
  await puppet.emit({ usage })
  puppet.exit()
  await run.completion
  expect(run.agentId).toBe(log.last.agentId)
  const facts = log.last.events.map(({ type, body }) => [type, body])
  expect(facts).toMatchObject([
    ['external_started', { backend: 'fake', request: { prompt: 'go', timeoutMs: 9, envNames: ['A', 'B_KEY'] } }],
    ['driver_claimed', {}],
    ['process_start', {}],
    ['session_known', { sessionId: 's1' }],
    ['agent_events', { first: 0, events: [{ kind: 'TextOutput', text: 'a' }] }],
    ['usage_reported', usage],
    ['external_ended', { outcome: 'exited', success: true, finalText: 'done' }],
  ])
  expect(JSON.stringify(facts[0])).not.toContain('"v"')
})

test('several consumers each see all events in order', async () => {
  const { gateway, puppet } = puppetGateway()
  const run = await gateway.run('fake', { prompt: 'go' })
  const consumers = [all(run.events), all(run.events)]
  const texts = Array.from({ length: 700 }, (_, i) => `t${i}`)
  for (const text of texts) await puppet.text(text)
  puppet.exit()
  for (const events of await Promise.all(consumers)) expect(textsOf(events)).toEqual(texts)
  // 256 events a batch, so that the log holds few of them.
  await run.completion
})

test('a puppet of its own is started once a run', async () => {
  const puppet = new Puppet()
  const { gateway } = puppetGateway({ backends: [puppet.backend] })
  const run = await gateway.run('fake', { prompt: 'go' })
  puppet.exit()
  await run.completion
  expect(puppet.started).toBe(1)
})
