import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOG_CHILD, start } from '../support/child.ts'
import { tempFolder } from '../support/folders.ts'

test('a full disk fails the append, not the reads; with room again it goes on, and the next start works', {
  tags: ['mounts'],
}, async () => {
  const disk = join(tempFolder(), 'disk')
  mkdirSync(disk)
  const script = `
    set -e
    mount -t tmpfs -o size=3m tmpfs "$1"
    "$2" "$3" fill "$1/log" "$1"
    "$2" "$3" check "$1/log"
    "$2" "$3" write "$1/log" later 3`
  const child = start('unshare', ['-m', 'sh', '-c', script, 'sh', disk, process.execPath, LOG_CHILD])
  const lines = await Array.fromAsync(child.lines)
  expect(await child.ended).toEqual({ end: 0, stderr: '' })
  const full = JSON.parse(lines[0]!)
  expect(full).toMatchObject({ code: 'LOG_FULL', message: expect.stringContaining('Make room') })
  expect(full.group).toEqual(['LOG_FULL', 'LOG_FULL', 'LOG_FULL', 'CONFLICT'])
  expect(full.acked).toBeGreaterThan(10)
  expect(full.head.revision).toBe(full.acked)
  expect(full.read).toBe(full.acked + 1)
  expect(JSON.parse(lines[1]!)).toEqual({ stream: 'agent-fill', events: full.read + 4, problems: [] })
  expect(lines.slice(2).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
    'ack agent-later 1',
    'ack agent-later 3',
    'ack agent-later 5',
  ])
})
