import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownEstimate } from '../../domain/agent/window/own-estimate.ts'
import type { Message } from '../../domain/calls/content.ts'
import type { ModelRequest } from '../../domain/ports/index.ts'
import { property } from '../support/property.ts'

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const estimate = (messages: readonly Message[]) =>
  ownEstimate({ system: 'You are an agent.', messages, tools: [] } as unknown as ModelRequest, NOTHING)

const user = (text: string): Message => ({ role: 'user', content: text })

test('the estimate of a request does not depend on the requests before it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 })
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), text }),
    fc.record({ kind: fc.constant('replace' as const), text, at: fc.nat(20) }),
    fc.record({ kind: fc.constant('cut' as const), text, at: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let messages = [user('Read the files.')]
      for (const one of changes) {
        if (one.kind === 'add') messages = [...messages, user(one.text)]
        else if (one.kind === 'replace') messages = messages.with(one.at % messages.length, user(one.text))
        else messages = messages.slice(0, Math.max(1, one.at % messages.length))
        expect(estimate(messages)).toBe(estimate(messages.map((message) => ({ ...message }))))
      }
    }),
    property(200),
  )
})
