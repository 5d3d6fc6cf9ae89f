import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { StandInCluster } from './cluster.ts'
import { StandIn } from './stand-in.ts'

// The stand-in as a separate process: `node test/support/eventstore/main.ts [--port N] [--cluster]`. Prints its
// connection string, then reads commands from stdin: `freeze 0`, `thaw 0`, `drop 0`, `kill 0`, `start 0`, `elect 1`,
// `quorum lost`, `set 0 stalled true`. The number identifies a node. Exits at the end of stdin.

const { values } = parseArgs({ options: { port: { type: 'string' }, cluster: { type: 'boolean' } } })
const cluster = values.cluster ? await new StandInCluster().start() : null
const nodes = cluster?.nodes ?? [await new StandIn().start(Number(values.port ?? 0))]
console.log(cluster?.url ?? nodes[0]!.url)

async function run(line: string): Promise<void> {
  const [verb = '', which = '0', name = '', value = ''] = line.trim().split(/\s+/)
  const node = nodes[Number(which)]
  if (verb === 'quorum' && cluster) cluster.losesQuorum()
  else if (verb === 'elect' && cluster) cluster.elect(Number(which))
  else if (!node) throw new Error(`there is no node ${which}`)
  else if (verb === 'set' && name in node.switches) Object.assign(node.switches, { [name]: JSON.parse(value) })
  else if (verb === 'freeze') node.freeze()
  else if (verb === 'thaw') node.thaw()
  else if (verb === 'drop') node.drop()
  else if (verb === 'kill') await node.kill()
  else if (verb === 'start') await node.start()
  else throw new Error(`cannot do "${line}"`)
}

for await (const line of createInterface(process.stdin)) {
  await run(line).then(
    () => console.log(`done ${line}`),
    (error: unknown) => console.log(`failed ${line}: ${error instanceof Error ? error.message : error}`),
  )
}
await (cluster?.stop() ?? nodes[0]!.stop())
// A call of a client that was killed can keep the process alive.
process.exit(0)
