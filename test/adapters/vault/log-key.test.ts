import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { logKeyFile } from '../../../adapters/vault/log-key.ts'
import { ED25519, formatVkey, noteSigner } from '../../../domain/log/proof/note.ts'

const key = (seed: number) => noteSigner('example.org/log', new Uint8Array(32).fill(seed), ED25519)

test('keys are kept with the newest first, also in a file that was empty', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-log-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'log.key')
  writeFileSync(file, '', { mode: 0o600 })
  const keys = logKeyFile(file)
  await keys.add(key(1))
  await keys.add(key(2))
  const kept = (await logKeyFile(file).read()).map((one) => formatVkey(one.key))
  expect(kept).toEqual([key(2), key(1)].map((one) => formatVkey(one.key)))
})
