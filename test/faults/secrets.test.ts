// @module-tag git
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepup, newPlace } from '../support/faults/cli.ts'
import { look } from '../support/faults/inspect.ts'
import { sandboxFlag } from '../support/faults/jobs.ts'
import { type Answer, calls, heard, modelServer } from '../support/faults/model-server.ts'
import { formsOf, placesOf } from '../support/faults/scan.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A secret that was given by name is written nowhere in plain text but where a tool was told to put it (5.12.5).

const GIVEN = 'p@ss/w0rd+"quoted"&more~Xy7'
const KEPT = 'tok-4f9c1e77b2a8d35566aa'
const PUBLIC = 'a public line, to show that the search finds what is there'

const command = (text: string) => calls('run_command', { command: text })
/** Answers with what it makes of the reference that stands in the task for the secret. */
const withReference =
  (make: (reference: string) => Answer): Answer =>
  (res, got) => {
    const reference = /Log in with (secret:ku_[0-9a-hjkmnp-tv-z]{26})\./.exec(heard(got))?.[1]
    make(reference ?? 'no reference was shown')(res, got)
  }

/** Answers with the reference that the system prompt tells for a name. */
const told =
  (name: string, make: (reference: string) => Answer): Answer =>
  (res, got) => {
    const at = new RegExp(`- ${name}: (secret:ku_[0-9a-hjkmnp-tv-z]{26})`).exec(JSON.stringify(got.body))
    make(at?.[1] ?? 'no reference was told')(res, got)
  }

const answers: [Answer, ...Answer[]] = [
  command('cat given.txt kept.txt public.txt'),
  command('base64 -w0 given.txt; echo; base64 given.txt; base64 -w0 kept.txt'),
  command("od -An -v -tx1 given.txt | tr -d ' \\n'; od -An -v -tx1 kept.txt | tr -d ' \\n' | tr a-f A-F"),
  command('head -c 9 given.txt; sleep 0.3; tail -c +10 given.txt; cat kept.txt >&2; exit 4'),
  calls('read_file', { path: 'given.txt' }),
  calls('search_code', { pattern: 'tok-' }),
  calls('read_file', { path: 'not/there/tok-4f9c1e77b2a8d35566aa' }),
  withReference((reference) => calls('write_file', { path: 'out.txt', content: `given=${reference}\n` })),
  told('KEPT', (reference) => calls('write_file', { path: 'told.txt', content: `kept=${reference}\n` })),
  withReference((reference) => calls('run_command', { command: `printf %s '${reference}' | wc -c` })),
  withReference((reference) => calls('set_context', { key: 'password', value: reference })),
  withReference((reference) => calls('complete_task', { summary: `Wrote ${reference}.`, artifacts: ['out.txt'] })),
]

test('a secret passes through tools and input, and is written nowhere but in the workspace', async () => {
  const place = newPlace()
  const server = await modelServer(...answers)
  try {
    writeFileSync(join(place.workspace, 'given.txt'), GIVEN)
    writeFileSync(join(place.workspace, 'kept.txt'), `${KEPT}\n${server.env.OPENAI_API_KEY}\n`)
    writeFileSync(join(place.workspace, 'public.txt'), `${PUBLIC}\n`)
    const set = await keepup(place, ['secrets', 'set', 'KEPT'], { input: `${KEPT}\n` })
    expect(set).toMatchObject({ code: 0 })
    const how = ['--model', 'openai:local', '-w', place.workspace, '--approve', 'write_file,run_command']
    const what = ['--secret', 'GIVEN,KEPT', '--var', `note=${KEPT}`, '--instructions', `Mind ${GIVEN}.`]
    const task = `Log in with ${GIVEN}. ${PUBLIC}`
    const env = { ...server.env, GIVEN }
    const ended = await keepup(place, ['run', ...how, ...sandboxFlag, ...what, task], { env })
    expect(ended).toMatchObject({ code: 0, err: expect.stringContaining('DONE') })

    // The workspace holds the file that the model wrote, with the value for its owner.
    expect(readFileSync(join(place.workspace, 'out.txt'), 'utf8')).toBe(`given=${GIVEN}\n`)
    expect(readFileSync(join(place.workspace, 'told.txt'), 'utf8')).toBe(`kept=${KEPT}\n`)

    const forms = [GIVEN, KEPT, server.env.OPENAI_API_KEY].flatMap(formsOf)
    const shown = [ended.out, ended.err, ...server.got.map((got) => JSON.stringify(got.body))].join('\n')
    expect(forms.filter((form) => shown.includes(form))).toEqual([])
    expect(server.got.length).toBe(answers.length)
    expect(heard(server.got[1]!)).toContain(PUBLIC)

    // The search sees into rows, packed bodies and objects of git: what is not secret is found there.
    const found = placesOf([PUBLIC], place.data)
    for (const where of ['log/log.db: bodies', 'versions.git (objects)']) expect(found).toContain(where)
    expect(placesOf(forms, place.workspace)).toEqual(['given.txt', 'kept.txt', 'out.txt', 'told.txt'])
    expect(placesOf(forms, place.data)).toEqual([])
    expect(placesOf(['"name":"GIVEN"', '"key":"'], place.data)).toContain('vault/references.jsonl')
    expect(await look(place, 'verify')).toMatchObject({ code: 0, err: '' })
  } finally {
    await server.close()
    place.remove()
  }
})
