// @module-tag git
import { mkdirSync, readdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { start } from '../support/child.ts'
import { begin, commandLine, environment, keepup, newPlace } from '../support/faults/cli.ts'
import { scripted } from '../support/faults/jobs.ts'
import { draws, each, FAULT_ALL, FAULT_SEED, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A drill copies a whole backup, with texts that erasures do not reach, into a temporary folder.

const place = newPlace()
const backup = join(place.root, 'backup')
const script = { script: 1 as const, turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }] }
const emptyFolder = (name: string): string => {
  const folder = join(place.root, name)
  mkdirSync(folder)
  return folder
}

beforeAll(async () => {
  const how = ['--model', scripted(place, script), '--no-workspace']
  expect(await keepup(place, ['run', ...how, 'Write'])).toMatchObject({ code: 0 })
  expect(await keepup(place, ['backup', backup])).toMatchObject({ code: 0 })
})
afterAll(() => place.remove())

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a drill that %s ends removes its copy', async (signal) => {
  const temporary = emptyFolder(signal)
  const watcher = watch(temporary)
  const drill = begin(place, ['drill', backup], { env: { TMPDIR: temporary } })
  watcher.once('change', () => drill.kill(signal))
  const ended = await drill.ended
  watcher.close()
  expect({ signal: ended.signal, left: readdirSync(temporary) }).toEqual({ signal, left: [] })
})

/** `$1`: the temporary folder; `$2`: its size; then a command. Prints the files that are left. */
const ON_A_SMALL_DISK = `
  folder=$1; shift
  mount -t tmpfs -o "size=$1" tmpfs "$folder"; shift
  TMPDIR="$folder" "$@" > "$folder.out" 2> "$folder.err"; echo $? > "$folder.code"
  ls -A "$folder" > "$folder.left"`

async function drillOn(sizeKb: number) {
  const temporary = emptyFolder(`disk-${sizeKb}`)
  const [node, args] = commandLine(place, ['drill', backup, '-o', 'jsonl'])
  const env = Object.entries(environment(place)).map(([name, value]) => `${name}=${value}`)
  const shell = ['sh', '-c', ON_A_SMALL_DISK, 'sh', temporary, `${sizeKb}k`]
  const child = start('unshare', ['-m', 'env', '-i', ...env, ...shell, node, ...args])
  expect(await child.ended).toEqual({ end: 0, stderr: '' })
  const said = (name: string) => readFileSync(`${temporary}.${name}`, 'utf8')
  return { code: Number(said('code')), out: said('out'), err: said('err'), left: said('left') }
}

// From a disk on which the copy finds no room, over one without room for the tables, to one for the whole drill.
const draw = draws(FAULT_SEED)
const sizes = FAULT_ALL ? Array.from({ length: 30 }, (_, i) => 40 + i * 60) : [60, 100 + draw(500), 600 + draw(600)]

test(`a drill on a full disk asks for room, blames no backup, and leaves nothing (FAULT_SEED=${FAULT_SEED})`, {
  tags: ['mounts'],
}, async () => {
  let refused = 0
  await each(sizes, 2, async (sizeKb) => {
    const { code, out, err, left } = await drillOn(sizeKb)
    expect({ code, left, err }).toMatchObject({ left: '', code: expect.toSatisfy((one) => one === 0 || one === 1) })
    expect(out).not.toContain('"ok":false')
    if (code === 0) return
    refused++
    expect(err).toMatch(/make room on the disk/i)
    expect(err).not.toContain('should not have happened')
  })
  expect(refused).toBeGreaterThan(0)
  expect(await drillOn(64_000)).toMatchObject({ code: 0, left: '' })
})
