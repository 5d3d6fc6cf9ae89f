import { describe, expect, it } from 'vitest'
import { StartRun } from '../../../api/operations/runs/start-schemas.ts'
import { draftOf, draftOfOther, requestOf } from '../../../api/web/start/draft.ts'
import { testSpec, toolSpec } from '../../support/harness.ts'

// The start form of the page: drafts, the requests that they make, and the drafts of earlier runs.

const TOOLS = ['read_file', 'write_file', 'run_command']
const draft = {
  ...{ task: 'do it', role: 'coder', model: 'm', workspace: '/w', mode: 'batch', instructions: 'be brief' },
  ...{
    dollars: '0.25',
    tokens: '1000',
    turns: '7',
    minutes: '1.5',
    secrets: 'A, B=@host:h.example',
    delegation: 'none',
  },
  ...{ 'tool:read_file': 'approved', 'tool:write_file': 'asks', 'tool:run_command': 'withheld' },
}

describe('a draft', () => {
  it('asks for exactly what was filled in, in the units of the API', () => {
    const request = requestOf(draft, TOOLS, 'ada')
    expect(request).toEqual({
      ...{ task: 'do it', role: 'coder', model: 'm', workspace: '/w', by: 'ada', instructions: 'be brief' },
      policy: { mode: 'batch', requiresApproval: ['write_file'] },
      ...{ approve: ['read_file'], tools: ['read_file', 'write_file'], delegation: false },
      secrets: ['A', 'B=@host:h.example'],
      budget: { nanoDollars: 250_000_000, tokens: 1000 },
      limits: { maxTurns: 7, wallClockMs: 90_000 },
    })
    expect(StartRun.safeParse(request).error).toBeUndefined()
    expect(requestOf({ task: 'x' }, TOOLS, 'ada')).toEqual({ task: 'x', by: 'ada' })
  })

  it('of another agent leaves out what only keepup’s own agent has', () => {
    const request = requestOf({ ...draft, agent: 'claude' }, TOOLS, 'ada')
    expect(Object.keys(request).sort()).toEqual(['agent', 'budget', 'by', 'limits', 'model', 'task', 'workspace'])
    expect(StartRun.safeParse(request).error).toBeUndefined()
  })
})

describe('the draft of a run', () => {
  it('has its settings, and the rule of each tool', () => {
    const spec = testSpec({
      tools: [toolSpec('read_file'), toolSpec('write_file')],
      policy: { mode: 'batch', requiresApproval: ['write_file'] },
      budget: { tokens: 1000, nanoDollars: 250_000_000 },
      limits: { maxTurns: 7, wallClockMs: 90_000 },
    })
    const found = draftOf({ task: 'do it', spec, approved: ['read_file'] }, TOOLS, [])
    expect(found).toMatchObject({
      ...{ task: 'do it', mode: 'batch', dollars: '0.25', tokens: '1000', turns: '7', minutes: '1.5' },
      ...{ 'tool:read_file': 'approved', 'tool:write_file': 'asks', 'tool:run_command': 'withheld' },
    })
    expect(requestOf(found, TOOLS, 'ada').tools).toEqual(['read_file', 'write_file'])
  })

  it('of another agent has its request', () => {
    const extensions = { 'agent_api.config.model.v1': 'opus' }
    const request = {
      prompt: 'go',
      workingDir: '/w',
      timeoutMs: 60_000,
      extensions,
      budget: { tokens: 5, nanoDollars: null },
    }
    expect(draftOfOther('claude', request)).toEqual({
      ...{ agent: 'claude', task: 'go', model: 'opus', workspace: '/w', tokens: '5', minutes: '1' },
    })
  })
})
