// @module-tag git
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { start } from '../support/child.ts'
import { commandLine, environment, newPlace, type Place } from '../support/faults/cli.ts'
import { factsOf, filesIn, look } from '../support/faults/inspect.ts'
import { scripted } from '../support/faults/jobs.ts'
import { draws, each, FAULT_ALL, FAULT_SEED, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// The data folder lies on a disk that fills up while a run is driven. The disk is a tmpfs of a mount namespace.

const FILES = 12

/** Lines that no compression makes small, so that each file takes its 97 KB of the disk, more than once. */
const content = (file: number): string =>
  Array.from({ length: 1500 }, (_, line) => `${createHash('sha256').update(`${file} ${line}`).digest('hex')}\n`).join(
    '',
  )

const writesMuch = (place: Place): string =>
  scripted(place, {
    script: 1,
    turns: [
      ...Array.from({ length: FILES }, (_, file) => ({
        calls: [{ tool: 'write_file', arguments: { path: `${file}.txt`, content: content(file) } }],
      })),
      { calls: [{ tool: 'complete_task', arguments: { summary: 'All written.' } }] },
    ],
  })

/** `$1`: the data folder; `$2`: its size; `$3`: where to leave word; then node and the program; the rest: what to run. */
const SCRIPT = `
  data=$1 size=$2 word=$3 node=$4 program=$5; shift 5
  keepup() { "$node" "$program" --data "$data" "$@"; }
  mount -t tmpfs -o "size=$size" tmpfs "$data"
  keepup "$@" > "$word/out1" 2> "$word/err1"; echo $? > "$word/code1"
  cp -a "$data" "$word/full"
  mount -o remount,size=64m "$data"
  run=$(sed -n 's/^run \\([a-z0-9]*\\)$/\\1/p' "$word/err1")
  if [ -n "$run" ]; then set -- resume "$run"; fi
  keepup "$@" > "$word/out2" 2> "$word/err2"; echo $? > "$word/code2"
  echo "$1" > "$word/again"
  cp -a "$data" "$word/room"`

async function fillUp(place: Place, sizeKb: number) {
  const model = writesMuch(place)
  const how = ['--model', model, '-w', place.workspace, '--approve', 'write_file', '--tools', 'write_file']
  const [node, [program]] = commandLine(place, [])
  const run = ['run', '--key', 'k', ...how, 'Write']
  const word = join(place.root, 'word')
  for (const folder of [place.data, word]) mkdirSync(folder)
  const env = Object.entries(environment(place, { KEEPUP_FULL_PATIENCE_MS: '700' })).map(
    ([name, value]) => `${name}=${value}`,
  )
  const script = ['sh', '-c', SCRIPT, 'sh', place.data, `${sizeKb}k`, word]
  const child = start('unshare', ['-m', 'env', '-i', ...env, ...script, node, program!, ...run])
  expect(await child.ended).toEqual({ end: 0, stderr: '' })
  const said = (name: string) => readFileSync(join(word, name), 'utf8').trim()
  const at = (name: string): Place => ({ ...place, data: join(word, name) })
  return { said, full: at('full'), room: at('room') }
}

async function survives(place: Place, sizeKb: number): Promise<void> {
  const { said, full, room } = await fillUp(place, sizeKb)
  expect([said('code1'), said('err1')]).toEqual(['1', expect.stringMatching(/make room on the disk and try again/i)])
  expect(said('err1')).not.toContain('should not have happened')
  expect(said('again')).toBe(/^run \w+$/m.test(said('err1')) ? 'resume' : 'run')
  expect([said('code2'), said('out2'), said('err2')]).toEqual(['0', 'All written.', expect.anything()])
  const [before, after] = [await factsOf(full), await factsOf(room)]
  expect(after.slice(0, before.length).map((fact) => fact.hash)).toEqual(before.map((fact) => fact.hash))
  const ended = before.filter((fact) => fact.type === 'tool_call_end').length
  expect(ended).toBeGreaterThanOrEqual([...said('err1').matchAll(/^ {2}✓ write_file/gm)].length)
  const expected = Array.from({ length: FILES }, (_, n) => [`${n}.txt`, content(n)])
  expect(filesIn(place.workspace)).toEqual(Object.fromEntries(expected))
  expect(await look(room, 'verify')).toMatchObject({ code: 0, err: '' })
  expect(await look(room, 'rebuild')).toMatchObject({ code: 0, out: expect.stringContaining('are equal') })
}

// From a disk on which not even the tables find room, to one that most of the job fits on.
const draw = draws(FAULT_SEED)
const sizes = FAULT_ALL ? Array.from({ length: 20 }, (_, i) => 240 + i * 80) : [280, 500 + draw(1300)]

test('a disk that fills up ends the run with a clear error; with room again it goes on and nothing is lost', {
  tags: ['mounts'],
}, async () => {
  await each(sizes, 2, async (sizeKb) => {
    const place = newPlace()
    try {
      await survives(place, sizeKb)
    } finally {
      place.remove()
    }
  })
})

/** `$1`: the data folder; `$2`: where to leave word; then node and the program; the rest: how to run. */
const READ = `
  data=$1 word=$2 node=$3 program=$4; shift 4
  keepup() { "$node" "$program" --data "$data" "$@"; }
  mount -t tmpfs -o size=64m tmpfs "$data"
  keepup run "$@" One && cp -a "$data/tables" "$word/older" && keepup run "$@" Two || exit 1
  dd if=/dev/zero of="$data/full" bs=4k 2> "$word/dd"
  keepup runs list > "$word/out1" 2> "$word/err1"; echo $? > "$word/code1"
  keepup verify > "$word/out2" 2> "$word/err2"; echo $? > "$word/code2"
  rm -r "$data/tables" && rm "$data/full" && cp -a "$word/older" "$data/tables"
  dd if=/dev/zero of="$data/full" bs=4k 2> "$word/dd"
  keepup runs list > "$word/out3" 2> "$word/err3"; echo $? > "$word/code3"`

test('what is recorded can be read on a full disk, also where the tables lag behind it', {
  tags: ['mounts'],
}, async () => {
  const place = newPlace()
  try {
    const turns = [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }]
    const how = ['--model', scripted(place, { script: 1, turns }), '--no-workspace']
    const [node, [program]] = commandLine(place, [])
    const word = join(place.root, 'word')
    for (const folder of [place.data, word]) mkdirSync(folder)
    const env = Object.entries(environment(place, {})).map(([name, value]) => `${name}=${value}`)
    const script = ['sh', '-c', READ, 'sh', place.data, word, node, program!, ...how]
    expect(await start('unshare', ['-m', 'env', '-i', ...env, ...script]).ended).toMatchObject({ end: 0 })
    const said = (n: number) => ['code', 'out', 'err'].map((name) => readFileSync(join(word, `${name}${n}`), 'utf8'))
    expect(said(1)).toEqual(['0\n', expect.stringMatching(/ Two\n.* One\n$/), ''])
    expect(said(2)).toEqual([
      '0\n',
      expect.stringMatching(/^heads: hold, .*\n(((stream|proof) )?[\w-]+: holds, .*\n){6}all holds; .*\n$/),
      '',
    ])
    expect(said(3)).toEqual(['0\n', expect.stringMatching(/ One\n$/), expect.stringContaining('the disk is full')])
    expect(said(3)[1]).not.toContain('Two')
  } finally {
    place.remove()
  }
})
