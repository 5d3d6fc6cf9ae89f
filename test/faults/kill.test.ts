import { expect, test } from 'vitest'
import { carryThrough } from '../support/faults/carry.ts'
import { keepup, newPlace, type Place } from '../support/faults/cli.ts'
import { crashPoint } from '../support/faults/crash-point.ts'
import { type Fact, factsOf, filesIn, look } from '../support/faults/inspect.ts'
import { demoJob, effectsJob, expectedEffects, type Job } from '../support/faults/jobs.ts'
import { draws, each, FAULT_ALL, FAULT_SEED, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// A real process is killed with SIGKILL at a boundary, and resumed, and the run ends as if nothing had been.

const AT_ONCE = 2

/** The crash points of an undisturbed run in order, and its result. */
interface Calm {
  readonly points: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly ends: readonly string[]
}

const calms = new Map<Job, Promise<Calm>>()
const undisturbed = (job: Job): Promise<Calm> => {
  const calm = calms.get(job) ?? runCalmly(job)
  calms.set(job, calm)
  return calm
}

function runCalmly(job: Job): Promise<Calm> {
  return inPlace(job, async (place) => {
    const { code, err } = await keepup(place, job.command(place), { env: { KEEPUP_CRASH_AT: 'list' } })
    expect({ code, err }).toMatchObject({ code: 0 })
    const points = JSON.parse(/^crash points passed: (.*)$/m.exec(err)![1]!) as string[]
    return { points, files: filesIn(place.workspace), ends: endsOf(await factsOf(place)) }
  })
}

async function inPlace<T>(job: Job, use: (place: Place) => Promise<T>): Promise<T> {
  const place = newPlace()
  try {
    job.prepare(place)
    return await use(place)
  } finally {
    place.remove()
  }
}

/** The calls of a run that ended, with their success. */
const endsOf = (facts: readonly Fact[]) =>
  facts
    .filter((fact) => fact.type === 'tool_call_end')
    .map((fact) => `${fact.toolCallId?.replace(/^\w+\./, '')} ${fact.body.toolName} ${fact.body.success}`)

async function survives(job: Job, kills: readonly string[], calm: Calm) {
  await inPlace(job, async (place) => {
    const { facts, killed } = await carryThrough(job, place, kills)
    expect(killed).toBeGreaterThan(0)
    expect(filesIn(place.workspace)).toEqual(calm.files)
    expect(endsOf(facts)).toEqual(calm.ends)
    const [verified, rebuilt] = [await look(place, 'verify'), await look(place, 'rebuild')]
    expect(verified).toMatchObject({ code: 0, err: '' })
    expect(rebuilt).toMatchObject({ code: 0, out: expect.stringContaining('are equal') })
  })
}

const plans: readonly { job: Job; always: readonly string[] }[] = [
  // The two that matter most are never left to chance: what cannot be undone was about to happen, or had happened.
  { job: effectsJob, always: ['before_tool:2', 'after_tool:2'] },
  { job: demoJob, always: [] },
]

// The demo's job meets every boundary too, but takes four times as long: it belongs to the campaign.
for (const { job, always } of FAULT_ALL ? plans : plans.filter(({ job }) => job === effectsJob)) {
  test(`the ${job.name} job, killed at ${FAULT_ALL ? 'every point' : 'its effect'}, ends as if undisturbed`, {
    tags: ['git'],
    timeout: 2 * FAULT_TIMEOUT_MS,
  }, async () => {
    const calm = await undisturbed(job)
    if (job === effectsJob) expect(calm.files['effects.txt']).toBe(expectedEffects)
    const last = calm.points.length
    expect(last).toBeGreaterThan(40)
    const chosen = FAULT_ALL ? Array.from({ length: last }, (_, i) => i + 1) : []
    const kills = [...always.map((point) => [point]), ...chosen.map((n) => [`*:${n}`])]
    await each(kills, AT_ONCE, (kill) => survives(job, kill, calm))
  })

  test(`the ${job.name} job, whose resumes are killed too, ends as if undisturbed`, {
    tags: ['git'],
    timeout: 2 * FAULT_TIMEOUT_MS,
  }, async () => {
    const calm = await undisturbed(job)
    const draw = draws(FAULT_SEED + 1)
    const kills = Array.from({ length: FAULT_ALL ? 40 : 1 }, () => [
      `*:${1 + draw(calm.points.length)}`,
      `*:${1 + draw(12)}`,
      ...(draw(2) === 0 ? [`*:${1 + draw(12)}`] : []),
    ])
    await each(kills, AT_ONCE, (kill) => survives(job, kill, calm))
  })
}

test('events of a killed process show at once, though its tables lag behind', { tags: ['git'] }, async () => {
  await inPlace(effectsJob, async (place) => {
    // The third append is the claim, which comes long before the tables are written.
    const killed = await keepup(place, effectsJob.command(place), { env: { KEEPUP_CRASH_AT: 'after_append:3' } })
    expect(killed.signal).toBe('SIGKILL')
    const { code, out } = await keepup(place, ['-o', 'jsonl', 'runs'])
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ status: 'active', task: 'Leave two lines' })])
    const [run] = (await factsOf(place)).filter((fact) => fact.type === 'agent_started')
    expect(JSON.parse(out)).toMatchObject({ runId: run!.stream.replace(/^agent-/, ''), revision: expect.any(Number) })
    const appended = (await factsOf(place)).filter((fact) => fact.stream === run!.stream).length
    expect(JSON.parse(out).revision).toBe(appended - 1)
  })
})

test.each(['after_tool', '*:0', '*:x', 'after_tool:-1'])(
  'a misspelt crash point is reported and stops no process: %s',
  (asked) => {
    expect(() => crashPoint({ KEEPUP_CRASH_AT: asked })).toThrow('KEEPUP_CRASH_AT: expected')
  },
)
