import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadScript, MAX_SCRIPT_BYTES } from '../../adapters/models/scripted/load.ts'
import { scriptedProvider } from '../../adapters/models/scripted/provider.ts'
import { parseScript } from '../../adapters/models/scripted/script.ts'
import { never, request } from '../support/models/model-request.ts'

/** A placeholder. */
const hole = (name: string) => `\${${name}}`

describe('a script that is not valid', () => {
  test.each<[string, unknown, RegExp]>([
    ['no object', [], /expected an object/],
    ['no version', { turns: [{ text: 'x' }] }, /script: /],
    ['no turns', { script: 1, turns: [] }, /turns: /],
    ['an unknown member', { script: 1, turns: [{ txt: 'x' }] }, /turns\.0: .*"txt"/],
    ['a bad stop', { script: 1, turns: [{}, { stop: 'now' }] }, /turns\.1\.stop: /],
    [
      'two kinds of arguments',
      { script: 1, turns: [{ calls: [{ tool: 'f', arguments: {}, argumentsText: '' }] }] },
      /turns\.0\.calls\.0: .*not both/,
    ],
    [
      'an unknown placeholder',
      { script: 1, turns: [{ text: `${hole('nope')}` }] },
      /turns\.0: \$\{nope\} is unknown; known are lastResult/,
    ],
    [
      'an unknown label',
      { script: 1, turns: [{ goto: 'x' }] },
      /turns\.0\.goto: expected the label of a turn, not "x"/,
    ],
    ['a label twice', { script: 1, turns: [{ label: 'x' }, { label: 'x' }] }, /turns\.1\.label: /],
    ['an empty condition', { script: 1, turns: [{ when: {} }] }, /turns\.0\.when: expected at least one/],
    ['a part without a condition', { script: 1, turns: [{}], parts: [{ name: 'p', turns: [{}] }] }, /parts\.0\.when: /],
  ])('%s', (_, value, message) => {
    expect(() => parseScript(value, 'my script')).toThrow(message)
    expect(() => parseScript(value, 'my script')).toThrow(
      expect.objectContaining({
        code: 'SCRIPT_INVALID',
        transient: false,
        message: expect.stringContaining('my script'),
      }),
    )
  })

  test('in a file: missing, no JSON, and one that is fine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'script-'))
    try {
      expect(() => loadScript(join(folder, 'none.json'))).toThrow(/cannot be read \(ENOENT\)/)
      await writeFile(join(folder, 'bad.json'), '{"script": 1,')
      expect(() => loadScript(join(folder, 'bad.json'))).toThrow(/is not JSON/)
      await writeFile(join(folder, 'key'), '{\n "script": hush-hush')
      expect(() => loadScript(join(folder, 'key'))).toThrow(/is not JSON: line 2, column 12: expected a JSON value$/)
      await writeFile(join(folder, 'good.json'), JSON.stringify({ script: 1, turns: [{ text: 'hi' }] }))
      const answer = await scriptedProvider(loadScript(join(folder, 'good.json'))).call(request(), { signal: never() })
      expect(answer.content[1]).toEqual({ type: 'text', text: 'hi' })
      expect(() => loadScript(join(folder, 'good.json'), join(folder, 'elsewhere', '..'))).toThrow(
        /lies in the data folder/,
      )
      await mkdir(join(folder, 'data'))
      await symlink('../good.json', join(folder, 'data', 'link.json'))
      expect(loadScript(join(folder, 'data', 'link.json'), join(folder, 'data')).turns).toHaveLength(1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test.skipIf(process.platform === 'win32')('is never a device, a pipe or a file without end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'script-'))
    try {
      execFileSync('mkfifo', [join(folder, 'pipe')])
      for (const path of ['/dev/zero', join(folder, 'pipe'), folder])
        expect(() => loadScript(path)).toThrow(/is not a regular file/)
      await writeFile(join(folder, 'big.json'), '')
      await truncate(join(folder, 'big.json'), MAX_SCRIPT_BYTES + 1)
      expect(() => loadScript(join(folder, 'big.json'))).toThrow(/has more than 16777216 bytes/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
