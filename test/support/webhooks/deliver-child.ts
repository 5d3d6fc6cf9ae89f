import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { deliveries, hasty } from './world.ts'

// A process that delivers the notices of a log until it is killed.

const [, , folder = '', url = ''] = process.argv
const log = await openSqliteLog({ folder, mode: 'owner' })
const { start } = deliveries({ url, folder, log, clock: hasty(20) })
start()
setInterval(() => {}, 1_000)
