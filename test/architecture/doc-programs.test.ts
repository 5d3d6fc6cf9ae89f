import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { docPrograms } from '../support/programs/doc-programs.ts'

// test/package type-checks every program of the docs.

test('the program that edits a document runs', async () => {
  const [program] = docPrograms().filter((text) => text.includes('keepup.documents.send'))
  // Inside the project, so that `@keepup/runtime` is this package.
  const folder = mkdtempSync(join(import.meta.dirname, '../../.doc-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'program.ts'), program!)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd: folder })
  expect(stdout).toBe('200\n')
})
