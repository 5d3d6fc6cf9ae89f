import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '../../../api/config.ts'
import type { OpenServices } from '../../../api/owner/connect.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { FakeLog } from './log.ts'
import { fakeServices } from './services.ts'

// Stand-ins that live in a folder: a lock that dies with its process, and a log in a file.

function lock(folder: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    throw new LogError('LOG_LOCKED', 'another process owns the folder', { cause: error })
  }
}

export const openFakes = (async (config: Config, mode: 'owner' | 'reader', { autoDrive }: { autoDrive: boolean }) => {
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  const file = join(config.data, 'log.jsonl')
  if (mode === 'reader') return existsSync(file) ? fakeServices({ log: new FakeLog({ file }), readOnly: true }) : null
  const held = lock(config.data)
  return fakeServices({ log: new FakeLog({ file }), autoDrive, onClose: () => held.close() })
}) as OpenServices
