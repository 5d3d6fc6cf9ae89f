import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const DOCS = join(ROOT, 'api/docs')

const programsIn = (page: string) =>
  [...readFileSync(join(DOCS, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text!)

test('every program of the docs is whole and type-checks', { timeout: 300_000 }, async () => {
  // Inside the project, so that `@keepup/runtime` is this package.
  const folder = mkdtempSync(join(ROOT, '.doc-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let count = 0
  for (const page of readdirSync(DOCS))
    for (const [index, text] of programsIn(page).entries()) {
      writeFileSync(join(folder, `${page}.${index}.ts`), `${text}\nexport {}\n`)
      count++
    }
  expect(count).toBeGreaterThan(3)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../tsconfig.json', include: ['*.ts'], exclude: [] }),
  )
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const checked = promisify(execFile)(process.execPath, [tsc, '--noEmit', '-p', folder], { cwd: ROOT })
  expect(
    await checked.then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    ),
  ).toBe('')
})

test('the program that edits a document runs', async () => {
  const [program] = programsIn('library.md').filter((text) => text.includes('keepup.documents.send'))
  const folder = mkdtempSync(join(ROOT, '.doc-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'program.ts'), program!)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd: folder })
  expect(stdout).toBe('200\n')
})
