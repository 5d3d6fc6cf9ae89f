import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { checkAgentKind, checkCapabilities } from '../../../domain/external/capabilities.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import { type Advertised, checkAdvertised, checkRequest } from '../../../domain/external/request.ts'
import { property } from '../../support/property.ts'

// CONTRACTS 13, Validation: prompt not blank → unknown keys → value types → contradictions. Errors never echo a value.

const backend: Advertised = {
  kind: 'fake',
  capabilities: [
    'agent_api.run',
    'agent_api.session.resume.v1',
    'agent_api.session.fork.v1',
    'agent_api.config.model.v1',
    'agent_api.exec.non_interactive',
    'agent_api.exec.external_sandbox.v1',
    'agent_api.exec.add_dirs.v1',
    'backend.fake.mode',
  ],
  extensions: { 'backend.fake.mode': z.enum(['plan', 'edit']) },
  contradiction: ({ extensions }) =>
    extensions?.['backend.fake.mode'] === 'plan' && extensions['agent_api.exec.external_sandbox.v1'] === true
      ? 'plan needs no sandbox'
      : null,
}
const failure = (asked: unknown): { code: string; message: string } => {
  try {
    checkRequest(asked, backend)
  } catch (error) {
    if (error instanceof AgentError) return { code: error.code, message: error.message }
    throw error
  }
  return { code: 'none', message: '' }
}

describe('the order of checks', () => {
  const faults = [
    [{ prompt: ' \n' }, 'prompt: may not be blank'],
    [{ zeta: 1, alpha: 2 }, 'unknown key "alpha"'],
    [{ extensions: { 'z.later': 1, 'a.first': 2 } }, 'the extension "a.first"'],
    [{ timeoutMs: 'soon' }, 'timeoutMs'],
    [{ extensions: { 'agent_api.config.model.v1': 7 } }, 'extension "agent_api.config.model.v1"'],
    [
      {
        extensions: {
          'agent_api.session.resume.v1': { selector: 'last' },
          'agent_api.session.fork.v1': { selector: 'last' },
        },
      },
      'exclude each other',
    ],
  ] as const

  it('names the first fault, whatever faults follow', () => {
    for (let first = 0; first < faults.length; first++) {
      const asked: Record<string, unknown> = { prompt: 'go' }
      const extensions: Record<string, unknown> = {}
      for (const [fault] of faults.slice(first).reverse()) {
        Object.assign(asked, fault)
        Object.assign(extensions, 'extensions' in fault ? fault.extensions : {})
      }
      if (Object.keys(extensions).length > 0) asked.extensions = extensions
      expect(failure(asked).message).toContain(faults[first]![1])
    }
  })

  it('names the lexicographically smallest unknown key', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{6,9}$/), { minLength: 1, maxLength: 6 }), (keys) => {
        const asked = { prompt: 'go', ...Object.fromEntries(keys.map((key) => [`x${key}`, 1])) }
        const smallest = keys.map((key) => `x${key}`).sort()[0]
        expect(failure(asked).message).toBe(`unknown key "${smallest}"; leave it out`)
      }),
      property(50),
    )
  })
})

test('an error about a part of an extension names the extension and the part', () => {
  const asked = { prompt: 'go', extensions: { 'agent_api.session.resume.v1': { selector: 'id' } } }
  expect(failure(asked).message).toBe('extension "agent_api.session.resume.v1": id: is missing; expected a text')
})

test('no error repeats a value', () => {
  const secret = 'hunter2-hunter2'
  const asked: unknown[] = [
    { prompt: 'go', timeoutMs: secret },
    { prompt: 'go', workingDir: secret },
    { prompt: 'go', env: { A: [secret] } },
    { prompt: 'go', env: { A: `${secret}\0` } },
    { prompt: `${secret}\0` },
    { prompt: 'go', extensions: secret },
    { prompt: 'go', extensions: { 'agent_api.config.model.v1': { secret } } },
    { prompt: 'go', extensions: { 'agent_api.config.model.v1': `-${secret}` } },
    { prompt: 'go', extensions: { 'agent_api.session.resume.v1': { selector: secret } } },
    { prompt: 'go', extensions: { 'agent_api.exec.add_dirs.v1': { dirs: [secret] } } },
    { prompt: 'go', extensions: { 'backend.fake.mode': secret } },
    secret,
  ]
  for (const one of asked) {
    const { code, message } = failure(one)
    expect(code).toBe('InvalidRequest')
    expect(message).not.toContain('hunter2')
  }
})

test('an extension is legal only where the backend advertises it, and only if it is one', () => {
  expect(failure({ prompt: 'go', extensions: { 'backend.other.mode': 1 } }).code).toBe('UnsupportedCapability')
  expect(failure({ prompt: 'go', extensions: { 'agent_api.run': true } }).code).toBe('UnsupportedCapability')
  expect(failure({ prompt: 'go', extensions: { 'backend.fake.mode': 'plan' } }).code).toBe('none')
})

test("a backend's own contradictions come last", () => {
  const extensions = { 'backend.fake.mode': 'plan', 'agent_api.exec.external_sandbox.v1': true }
  expect(failure({ prompt: 'go', extensions })).toEqual({ code: 'InvalidRequest', message: 'plan needs no sandbox' })
  expect(failure({ prompt: 'go', zeta: 1, extensions }).message).toContain('"zeta"')
})

test('a valid request comes out as it went in, without members that are undefined', () => {
  const asked = { prompt: ' go ', timeoutMs: 5, env: { A: '' }, workingDir: '/w' }
  expect(checkRequest({ ...asked, extensions: undefined }, backend)).toStrictEqual(asked)
})

test('a kind is a lower-case letter, then lower-case letters, digits and underscores', () => {
  for (const kind of ['a', 'claude_code', 'x1_']) expect(() => checkAgentKind(kind)).not.toThrow()
  for (const kind of ['', 'A', '1a', '_a', 'a-b', 'a b', 'aé'])
    expect(() => checkAgentKind(kind)).toThrow(expect.objectContaining({ code: 'InvalidAgentKind' }))
})

test('capabilities and extensions are one namespace: core ids, or ids under the own kind', () => {
  expect(() => checkCapabilities('fake', ['agent_api.run', 'backend.fake.x'])).not.toThrow()
  for (const id of ['agent_api.unheard', 'backend.other.x', 'backend.fake.', 'x'])
    expect(() => checkCapabilities('fake', [id])).toThrow(expect.objectContaining({ code: 'UnsupportedCapability' }))
  expect(() =>
    checkAdvertised({ kind: 'fake', capabilities: [], extensions: { 'backend.fake.x': z.string() } }),
  ).toThrow(/does not advertise it/)
})
