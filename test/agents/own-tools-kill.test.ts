import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { killedIn, marked, place } from '../support/external/noting-agent.ts'
import { noted, noteTool, REACHING } from '../support/external/reaching.ts'

// kill -9 of keepup around a call of one of its own tools by another agent: the tool is performed once at most, and a call of
// which no end was seen is an unknown outcome.

const CHILD = join(import.meta.dirname, '../support/external/tools-child.ts')
const CALLING = join(import.meta.dirname, '../support/spawn/calling-claude.ts')

function killed(nth: number, side: 'before' | 'after') {
  const at = place()
  mkdirSync(at.data, { recursive: true })
  writeFileSync(join(at.data, 'keepup.json'), JSON.stringify(REACHING.settings))
  writeFileSync(join(at.bin, 'real'), `#!/bin/sh\nexec '${process.execPath}' '${CALLING}' "$@"\n`, { mode: 0o755 })
  // A process that is killed leaves its temporary files, which go with the place.
  const { TMPDIR } = process.env
  process.env.TMPDIR = at.root
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  return killedIn(at, CHILD, nth, side)
}

/** The request with its intent, its end, and a refused call of `list_comments`, which the role of the agent has too. */
const APPENDS = 3

test('a run that is not killed calls the tool, and says how many boundaries there are', async () => {
  const { said, work, end, stderr } = await killed(99, 'before')
  expect([end, stderr, said, noted(work)]).toEqual([0, '', [`appends ${APPENDS}`], 1])
})

test.each([
  ['before the request', 1, 'before', [], 0],
  ['after the intent', 1, 'after', ['UNKNOWN_OUTCOME'], 0],
  ['within the tool', 0, 'after', ['UNKNOWN_OUTCOME'], 1],
  ['before the end', 2, 'before', ['UNKNOWN_OUTCOME'], 1],
  ['after the end', 2, 'after', ['success'], 1],
] as const)('kill -9 %s', async (_, nth, side, ends, times) => {
  const { data, root, work, started, end } = await killed(nth, side)
  expect(end).toBe('SIGKILL')
  const keepup = await openKeepUp({
    data,
    sandboxed: false,
    scripts: REACHING.scripts,
    tools: [noteTool(work, () => undefined)],
  })
  onTestFinished(() => keepup.close())
  const { runId } = await keepup.start(REACHING.start(work))
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  const log = (await Array.fromAsync(keepup.services.log.readAll(null))).flat()
  const ofChild = log.filter(({ header }) => header.stream.startsWith('external-'))
  const bodies = (type: string) =>
    ofChild
      .filter(({ header }) => header.type === type)
      .map(({ body }) => JSON.parse(new TextDecoder().decode(unsalted(body!))))
  expect(bodies('tool_call_end').map(({ success, error }) => (success ? 'success' : error.code))).toEqual(ends)
  expect(bodies('external_ended')).toMatchObject([{ outcome: 'unknown' }])
  expect([noted(work), started()]).toEqual([times, 1])
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
  await expect.poll(() => marked(root)).toEqual([])
})
