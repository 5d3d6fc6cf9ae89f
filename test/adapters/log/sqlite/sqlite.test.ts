import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { eventLogContract } from '../../../contracts/event-log.ts'
import { tempFolder } from '../../../support/folders.ts'
import { BEFORE } from '../../../support/log/sealing.ts'

eventLogContract({
  name: 'sqlite',
  open: () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE }),
  idempotence: 'hashes',
  erases: true,
})
