import { mkdirSync, writeFileSync } from 'node:fs'
import files from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BlobUsage } from '../../adapters/files/blobs/usage.ts'
import { tempFolder } from '../support/folders.ts'

test('the sizes of some runs need no read of other runs, and an unchanged folder is read once', async () => {
  const folder = tempFolder()
  for (const run of ['aa-run', 'aa-other', 'bb-run']) {
    mkdirSync(join(folder, run.slice(0, 2), run), { recursive: true })
    writeFileSync(join(folder, run.slice(0, 2), run, 'blob'), run)
  }
  const looked: string[] = []
  const noted =
    <A extends [unknown, ...unknown[]], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      looked.push(String(args[0]))
      return call(...args)
    }
  const looks = { stat: noted(files.stat as never), readdir: noted(files.readdir as never) } as never
  const usage = new BlobUsage(folder, looks)
  expect(await usage.sizes(['aa-run', 'none'])).toEqual(
    new Map([
      ['aa-run', 6],
      ['none', 0],
    ]),
  )
  const of = join(folder, 'aa', 'aa-run')
  expect(looked).toEqual(expect.arrayContaining([of, join(of, 'blob')]))
  expect(looked.filter((path) => /other|bb/.test(path.slice(folder.length)))).toEqual([])
  looked.length = 0
  expect(await usage.sizes(['aa-run'])).toEqual(new Map([['aa-run', 6]]))
  expect(looked).toEqual([of])
})
