import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { docPrograms } from '../support/programs/doc-programs.ts'

// test/package type-checks every program of the docs.

/** Runs the program that contains a text. Returns its output. */
async function outputOf(text: string): Promise<string> {
  const [program] = docPrograms().filter((one) => one.includes(text))
  // Inside the project, so that `@keepup/runtime` is this package.
  const folder = mkdtempSync(join(import.meta.dirname, '../../.doc-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'program.ts'), program!)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd: folder })
  return stdout
}

test('the program that edits a document runs', async () => {
  expect(await outputOf('keepup.documents.send')).toBe('200\n')
})

test('the program that keeps rows of its own runs', async () => {
  const rows = [
    { run: 'r1', how: 'completion' },
    { run: 'r2', how: 'error' },
  ]
  expect(await outputOf('testProjection(')).toBe(`${JSON.stringify(rows)}\n1\n`)
})

test('the program that asks the tables with Kysely runs', async () => {
  expect(await outputOf('openTables(')).toBe('true\n')
})
