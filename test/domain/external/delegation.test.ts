import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { gemini } from '../../../adapters/agents/cli/gemini.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import { ROLES } from '../../../domain/agent/definition/roles.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { checkRequest } from '../../../domain/external/request.ts'
import { ALL_RIGHTS, levelFor, NO_RIGHTS, rightsOf } from '../../../domain/tree/rights.ts'
import type { Rights } from '../../../domain/tree/spec.ts'
import { property } from '../../support/property.ts'

// CONTRACTS 13: the runtime maps the child's rights to the backend's flags, or refuses the call.

const BACKENDS = [claudeCode, codex, gemini, opencode]
const rights = fc.record({ read: fc.boolean(), write: fc.boolean(), commands: fc.boolean(), outside: fc.boolean() })

test('the chosen level grants nothing beyond the rights, and its extensions are accepted', () => {
  fc.assert(
    fc.property(rights, fc.constantFrom(...BACKENDS), (asked, backend) => {
      const level = levelFor(asked, backend.levels ?? [])
      if (level === null) return
      for (const right of Object.keys(asked) as (keyof Rights)[])
        if (level.grants[right]) expect(asked[right]).toBe(true)
      expect(checkRequest({ prompt: 'go', extensions: level.extensions }, backend)).toBeDefined()
    }),
    property(100),
  )
})

test('an agent without commands has no web tools and no servers of its own: it has those of keepup', () => {
  for (const { levels = [], plan } of BACKENDS)
    for (const { grants, extensions } of levels.filter((level) => !level.grants.commands)) {
      const args = plan({ prompt: 'go', extensions }).args.join(' ')
      expect(args, JSON.stringify(grants)).toMatch(/--strict-mcp-config.* --disallowedTools WebFetch WebSearch\b/)
    }
})

describe('a child', () => {
  const of = (policy: object) => rightsOf({ policy: Policy.parse({ sandboxed: false, ...policy }), role: null })
  it('that may do everything gets the widest level', () => {
    const all = of({ mode: 'batch', requiresApproval: [] })
    expect(all).toEqual(ALL_RIGHTS)
    expect(levelFor(all, codex.levels!)?.extensions).toEqual({ 'backend.codex.sandbox': 'workspace-write' })
  })
  it('that is asked about each write and command is only let read', () => {
    const asked = of({ mode: 'interactive' })
    expect(asked).toEqual({ ...NO_RIGHTS, read: true, outside: true })
    expect(levelFor(asked, claudeCode.levels!)?.extensions).toMatchObject({
      'backend.claude_code.permission_mode': 'plan',
      'backend.claude_code.restricted': true,
    })
    // Their read-only modes run commands: of the model, or of the settings in the folder.
    expect(levelFor(asked, codex.levels!)).toBe(null)
    expect(levelFor(asked, gemini.levels!)).toBe(null)
    expect(levelFor(asked, opencode.levels!)).toBe(null)
  })
  it('that writes and runs no commands is given no shell', () => {
    const writes = of({ mode: 'batch', deniedTools: ['run_command'], requiresApproval: [] })
    expect(levelFor(writes, claudeCode.levels!)?.extensions).toMatchObject({
      'backend.claude_code.permission_mode': 'acceptEdits',
      'backend.claude_code.restricted': true,
    })
  })
  it('that is sandboxed is refused by each: nothing confines the programs', () => {
    const confined = of({ mode: 'batch', sandboxed: true })
    for (const { levels = [] } of BACKENDS) expect(levelFor(confined, levels)).toBe(null)
  })
  it('of a role has what one of its phases has: it comes to each by itself', () => {
    const policy = Policy.parse({ mode: 'batch', sandboxed: false })
    expect(rightsOf({ policy, role: ROLES.coder! })).toEqual(ALL_RIGHTS)
    expect(rightsOf({ policy, role: ROLES.researcher! })).toMatchObject({ read: true, write: false, commands: false })
  })
})
