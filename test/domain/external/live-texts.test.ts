import { describe, expect, it } from 'vitest'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Hiding } from '../../../domain/ports/external.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { puppetGateway } from '../../support/external/in-process.ts'

const redactor = createRedactor({ key: new Uint8Array(32).fill(7), known: ['correct-horse-battery'] })
const hiding: Hiding = {
  value: <T extends Json>(value: T): T => redactor.redactJson(value).value as T,
  texts: () => redactor.redactTexts(),
}

/** A run of a puppet whose texts are hidden by a real redactor, and its first events. */
async function running() {
  const { gateway, puppet } = puppetGateway({ hiding })
  const run = await gateway.run('fake', { prompt: 'go' })
  const reader = run.events[Symbol.asyncIterator]()
  const next = async (): Promise<AgentEventBody> => {
    const { value } = await reader.next()
    const { agentKind: _, ...event } = value!
    return event
  }
  return { puppet, run, next }
}

describe('the texts of a running agent', () => {
  it('a text is an event of its own before the next text comes', async () => {
    const { puppet, next } = await running()
    await puppet.text('Hello.')
    expect(await next()).toEqual({ kind: 'TextOutput', text: 'Hello.' })
    await puppet.text('World.')
    expect(await next()).toEqual({ kind: 'TextOutput', text: 'World.' })
    puppet.exit()
  })

  it('a held end of a text continues it, and a whole text stays one of its own', async () => {
    const { puppet, run } = await running()
    const whole = (text: string) => ({ kind: 'TextOutput', text, continues: false }) as const
    await puppet.emit({ events: [whole('Say correct-'), whole('Done.')] })
    await puppet.emit({ events: [whole('correct-'), { kind: 'Status', message: 'done' }] })
    puppet.exit()
    const told: unknown[] = []
    for await (const { text, continues } of run.events) told.push([text, continues])
    expect(told).toEqual([
      ['Say ', false],
      ['correct-', true],
      ['Done.', false],
      // The filter may hold an end of the text before, so that nobody knows where this text begins.
      ['correct-', undefined],
      [undefined, undefined],
    ])
  })

  it('a whole text that is held with the piece after it is not recorded as a piece', async () => {
    const { puppet, run } = await running()
    const said = (text: string, continues: boolean) => ({ kind: 'TextOutput', text, continues }) as const
    await puppet.emit({ events: [said('correct-', false), said('horse', true)] })
    puppet.exit()
    const told: unknown[] = []
    for await (const { text, continues } of run.events) told.push([text, continues])
    expect(told[0]).toEqual(['correct-', undefined])
  })

  it('a text of 65,536 bytes is one event', async () => {
    const { puppet, run } = await running()
    await puppet.text('x'.repeat(65_536))
    puppet.exit()
    const texts: number[] = []
    for await (const { text } of run.events) texts.push(text!.length)
    expect(texts).toEqual([65_536])
  })
})
