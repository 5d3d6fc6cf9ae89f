// @module-tag git
import { describe, expect, type TestContext, test, vi } from 'vitest'
import { type Begun, begin, keepup, newPlace, type Place, runIdIn } from '../support/faults/cli.ts'
import { look } from '../support/faults/inspect.ts'
import { scripted } from '../support/faults/jobs.ts'
import { noneLeft, processesWith, running } from '../support/faults/processes.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A driver that is killed leaves nothing running behind.

let tokens = 0

/** A run whose command has started three processes, one of which has left its group; and the text that names them. */
async function working(
  { onTestFinished }: TestContext,
  sandbox: readonly string[],
): Promise<{ place: Place; driver: Begun; token: string }> {
  const place = newPlace()
  onTestFinished(() => place.remove())
  const token = `1000.${process.pid}1${++tokens}`
  onTestFinished(() => {
    for (const pid of processesWith(token)) process.kill(pid, 'SIGKILL')
  })
  const command = `sleep ${token} & setsid sleep ${token} & echo up; sleep ${token}`
  const model = scripted(place, {
    script: 1,
    turns: [
      { calls: [{ tool: 'run_command', arguments: { command } }] },
      { calls: [{ tool: 'complete_task', arguments: { summary: 'Slept.' } }] },
    ],
  })
  const how = ['--model', model, '-w', place.workspace, '--approve', 'run_command', ...sandbox]
  const driver = begin(place, ['run', ...how, 'Sleep'])
  await driver.said('\nup\n')
  await expect.poll(() => running('sleep', token)).toBe(3)
  driver.kill('SIGKILL')
  expect(await driver.ended).toMatchObject({ signal: 'SIGKILL' })
  return { place, driver, token }
}

/** The run waits for a person to say what became of the command, and goes on when that was said. */
async function goesOn(place: Place, driver: Begun): Promise<void> {
  const run = runIdIn({ err: driver.err() })
  const [, call] = / resolve (\S+) abandon/.exec((await look(place, 'runs', 'show', run)).err)!
  const abandoned = await look(place, 'resolve', call!, 'abandon')
  expect(abandoned).toMatchObject({ code: 0 })
  expect(await look(place, 'resume', run)).toMatchObject({ code: 0, out: 'Slept.\n' })
}

describe.concurrent('what a killed driver was running', () => {
  test('ends with it at once, where it was confined', { tags: ['bubblewrap'] }, async (context) => {
    const { place, driver, token } = await working(context, [])
    await noneLeft(token)
    const resumed = await look(place, 'resume', runIdIn({ err: driver.err() }))
    expect(resumed).toMatchObject({ code: 8, err: expect.stringMatching(/keepup(\.js)? resolve/) })
    await goesOn(place, driver)
  })

  test('is ended by the next resume, where it was not confined', async (context) => {
    const { place, driver, token } = await working(context, ['--no-sandbox'])
    expect(running('sleep', token)).toBe(3)
    const resumed = await keepup(place, ['resume', runIdIn({ err: driver.err() })])
    await noneLeft(token)
    expect(resumed).toMatchObject({ code: 8, err: expect.stringMatching(/keepup(\.js)? resolve/) })
    await goesOn(place, driver)
  })
})
