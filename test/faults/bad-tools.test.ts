// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepup, newPlace } from '../support/faults/cli.ts'
import { type Fact, factsOf, look } from '../support/faults/inspect.ts'
import { sandboxFlag, scripted } from '../support/faults/jobs.ts'
import { noneLeft } from '../support/faults/processes.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// Tools that say too much, or what is no text, or that do not end: the run goes on, the log stays well formed and small.

const MEGABYTES = 10_000_000
const token = `1000.${process.pid}9`

/** Long enough for a shell in its sandbox to have begun, on any machine. */
const HANGS_MS = 8_000

const asks = [
  ['run_command', { command: `head -c ${MEGABYTES} /dev/zero | tr '\\0' x` }],
  ['run_command', { command: `head -c ${MEGABYTES} /dev/urandom` }],
  ['run_command', { command: "printf 'a\\000b\\377\\376c\\355\\240\\200d\\n'; exit 3" }],
  ['run_command', { command: `echo begun; sleep ${token}`, timeoutMs: HANGS_MS }],
  ['read_file', { path: 'odd.txt' }],
  ['read_file', { path: 'large.txt' }],
  ['complete_task', { summary: 'Still here.' }],
] as const

test('too much output, invalid text, a hanging command', async () => {
  const place = newPlace()
  try {
    writeFileSync(join(place.workspace, 'odd.txt'), Buffer.from('6f6464ff00fe650a', 'hex'))
    writeFileSync(join(place.workspace, 'large.txt'), 'z'.repeat(MEGABYTES))
    const turns = asks.map(([tool, args]) => ({ calls: [{ tool, arguments: args }] }))
    const model = scripted(place, { script: 1, turns })
    const how = ['--model', model, '-w', place.workspace, '--approve', 'run_command', ...sandboxFlag]
    const ended = await keepup(place, ['run', ...how, 'Try it'])
    expect(ended).toMatchObject({ code: 0, out: 'Still here.\n' })
    await noneLeft(token)
    // No control character of a tool's output reaches the terminal.
    expect(ended.err).not.toMatch(/[\0\u001b]/)

    const ends = (await factsOf(place)).filter((fact) => fact.type === 'tool_call_end')
    const [much, noise, odd, hung, oddFile, largeFile, done] = ends as [Fact, Fact, Fact, Fact, Fact, Fact, Fact]
    expect(much.body.result).toMatchObject({ exitCode: 0, stdoutBytes: MEGABYTES })
    expect(noise.body.result).toMatchObject({ exitCode: 0, stdoutBytes: MEGABYTES })
    expect(odd.body.result).toMatchObject({
      exitCode: 3,
      stdoutBytes: 11,
      stdout: expect.stringMatching(/^a.b.+c.+d\n$/),
    })
    expect(hung.body).toMatchObject({ success: false, error: { code: 'TIMEOUT' } })
    expect(JSON.stringify(hung.body.error)).toContain('begun')
    expect(oddFile.body.success).toBe(true)
    expect(largeFile.body.success).toBe(true)
    expect(done.body.success).toBe(true)
    for (const { body } of ends) {
      const text = JSON.stringify(body)
      expect(text.length).toBeLessThan(100_000)
      expect(text.isWellFormed()).toBe(true)
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i)
    }
    expect(await look(place, 'verify')).toMatchObject({ code: 0, err: '' })
  } finally {
    place.remove()
  }
})
