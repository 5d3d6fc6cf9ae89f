import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checkPack } from '../../../api/operations/pack/check-pack.ts'
import { writePack } from '../../../api/operations/pack/write-pack.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { bodyHasher } from '../../../domain/log/seal.ts'
import { timed } from '../measure.ts'
import { writeSignedLog } from '../signed-log.ts'

// One step with a pack in a process of its own. Prints the CPU time and the most memory of the step.

const [, , step = '', data = '', file = '', events = ''] = process.argv

async function opened(mode: 'owner' | 'reader', work: (s: Parameters<typeof writePack>[0]) => Promise<void> | void) {
  const services = (await openServices(ConfigSchema.parse({ data }), mode, { autoDrive: false }, { tell: () => {} }))!
  try {
    await work(services)
  } finally {
    await services.close()
  }
}

const pack = (since?: string) =>
  opened('reader', (s) =>
    pipeline(Readable.from(writePack(s, { runs: [], since, bodies: true })), createWriteStream(file)),
  )

const STEPS: Readonly<Record<string, () => Promise<void>>> = {
  async log() {
    await writeSignedLog(data, Number(events))
    await opened('owner', (s) => s.read.caughtUp())
  },
  whole: () => pack(),
  proved: () => pack('1970-01-01T00:00:00.000Z'),
  async check() {
    const found = await checkPack(createReadStream(file, { highWaterMark: 256 * 1024 }))
    if (!found.ok) throw new Error(`the pack does not verify: ${JSON.stringify(found.problems.slice(0, 3))}`)
  },
  async floor() {
    const hasher = bodyHasher()
    for await (const piece of createReadStream(file, { highWaterMark: 256 * 1024 })) hasher.update(piece as Uint8Array)
    hasher.hex()
  },
}

const { cpuMs } = await timed(STEPS[step]!)
process.stdout.write(JSON.stringify({ cpuMs, bytes: process.resourceUsage().maxRSS * 1024 }))
