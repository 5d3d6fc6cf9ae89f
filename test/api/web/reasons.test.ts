import { describe, expect, it } from 'vitest'
import type { RunDetail as Detail } from '../../../api/operations/runs/schemas.ts'
import { kindsOf } from '../../../api/web/parts/code/patch-lines.ts'
import { textDiff } from '../../../api/web/parts/code/text-diff.ts'
import { reasonsOf } from '../../../api/web/run/reasons.ts'

// What the page says of a run that stands still, and how it shows what changed.

const RUN = {
  ...{ runId: 'r1', status: 'active', error: null, partialOutput: null, unmetGates: [], waiting: [], paused: false },
  ...{ driving: false, interrupted: true, ungoverned: false, incomplete: false, shortened: false },
}
const detail = (run: object, more: object = {}): Detail =>
  ({
    run: { ...RUN, ...run },
    ...{ parked: [], restoring: null, missingTools: [], missingProviders: [], workersDrive: false },
    ...more,
  }) as unknown as Detail
const texts = (one: Detail) => reasonsOf(one).map(({ text }) => text)

describe('a run', () => {
  it.each([
    ['that is driven', detail({ driving: true }), []],
    ['that asks a person', detail({ waiting: [{ for: 'approval' }] }), []],
    ['that has ended well', detail({ status: 'completed' }), []],
    ['without a process', detail({}), [/No process drives it: Resume/]],
    ['that is paused', detail({ paused: true, waiting: [{ for: 'pause' }] }), [/paused: Resume/]],
    ['whose models fail', detail({ waiting: [{ for: 'model' }], driving: true }), [/No model .* serves at present/]],
    ['whose tools are elsewhere', detail({}, { missingTools: ['crm:find'] }), [/does not have crm:find/]],
    ['whose providers are elsewhere', detail({}, { missingProviders: ['own:acme'] }), [/does not have own:acme/]],
    ['that workers drive', detail({ interrupted: null }, { workersDrive: true }), [/next one that is free/]],
    ['of another agent', detail({ ungoverned: true, interrupted: null }), [/Another process runs this agent/]],
    ['of another agent whose process is gone', detail({ ungoverned: true }), [/process that ran this agent is gone/]],
    [
      'of another agent whose process is gone while it asked',
      detail({ ungoverned: true, waiting: [{ for: 'approval' }] }),
      [/process that ran this agent is gone/],
    ],
    ['that failed', detail({ status: 'failed', error: { code: 'X', message: 'why' } }), [/^why$/]],
    [
      'whose files are half put back',
      detail({ status: 'completed' }, { restoring: { step: 3, tree: 't', replaces: 'old' } }),
      [/restore those of step 3 once more, or version old/],
    ],
    [
      'that the tables cannot read',
      detail(
        { status: 'completed', incomplete: true },
        { parked: [{ stream: 'agent-r1', revision: 4, code: 'GAP', error: 'a gap' }] },
      ),
      [/agent-r1 is read up to event 4, no further \(GAP: a gap\)/],
    ],
    ['whose log was shortened', detail({ status: 'completed', shortened: true }), [/accepted the loss: keepup repair/]],
  ] as [string, Detail, RegExp[]][])('%s says why it does nothing', (_, one, expected) => {
    expect(texts(one)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
  })
})

it.each([
  ['BUDGET_EXCEEDED', 'The budget was spent (BUDGET_EXCEEDED)', true],
  ['CANCELLED', 'Cancelled (CANCELLED)', false],
  ['X', 'Failed (X)', true],
])('the end of a run with %s is named in plain words, and is bad unless a person asked for it', (code, title, bad) => {
  const ended = detail({ status: 'failed', error: { code, message: 'why' }, partialOutput: 'half' })
  expect(reasonsOf(ended)).toEqual([
    { title, bad, text: 'why' },
    { bad: false, text: 'The last answer: half' },
  ])
})

describe('a patch', () => {
  it('shows a line of a file as what was done to it, whatever it begins with', () => {
    const lines = [
      '--- a',
      '+++ b',
      '@@ -1,2 +1,2 @@',
      '--- old comment',
      '+++ evil',
      ' kept',
      'diff --git a b',
      '--- c',
    ]
    expect(kindsOf(lines)).toEqual(['head', 'head', 'place', 'removed', 'added', '', 'head', 'head'])
  })

  it('of two values tells nothing of ends of files', () => {
    expect(textDiff('a\nb', 'a\nc')).toBe('@@ -1,2 +1,2 @@\n a\n-b\n+c\n')
    expect(textDiff('a', 'a')).toBe('')
  })
})
