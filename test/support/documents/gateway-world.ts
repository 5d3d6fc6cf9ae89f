import { onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { tempFolder } from '../folders.ts'
import { BEFORE } from '../log/sealing.ts'
import { DocumentGateway, portsOver } from './runtime.ts'

export const LOGS: readonly [string, () => Promise<EventLog>][] = [
  ['memory', async () => new MemoryLog({ clock: BEFORE })],
  ['sqlite', () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE })],
]

export async function world(open: () => Promise<EventLog> = LOGS[0]![1]) {
  const log = await open()
  onTestFinished(() => log.close())
  const ports = portsOver(log)
  const gateway = new DocumentGateway(ports)
  onTestFinished(() => gateway.close())
  /** Another process over the same log. */
  const another = () => {
    const other = new DocumentGateway({ ...portsOver(log), blobs: ports.blobs })
    onTestFinished(() => other.close())
    return other
  }
  return { ports, gateway, another }
}
