import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import type { ModelOutcome, ModelProvider } from '../../../domain/ports/index.ts'
import { AgentSpec, type RoleDefinition } from '../../../domain/tree/spec.ts'
import { benchSpec, MODEL } from '../agent.ts'
import type { Bench, Case } from '../bench.ts'
import { type Embedded, openEmbedded } from '../embedded.ts'
import { type Figure, megabytes, most, ms } from '../figure.ts'
import { Pairs, timed } from '../measure.ts'
import { prose } from '../text.ts'

// One run that delegates to 100 children, 5 at work at once, against as many runs of the same single turn, 5 at once.

const CHILDREN = 100
const PER_TURN = 20
const AT_ONCE = 5

const CODER: RoleDefinition = {
  ...{ name: 'Coder', profile: 'writes code', goal: 'do the part' },
  phases: [{ name: 'work', allowedTools: ['read_file'] }],
  qualityGates: [],
  maxReactLoop: 8,
}

const spec = (() => {
  const alone = benchSpec(CHILDREN / PER_TURN)
  return AgentSpec.parse({
    ...alone,
    policy: { mode: 'batch', maxParallel: PER_TURN },
    tools: [...alone.tools, delegateToAgent.spec],
    delegation: { maxDepth: 1, agents: CHILDREN + 1, roles: { coder: CODER } },
  })
})()

/** The root delegates in each turn, children complete at once. `onTurn`: of the root. */
function delegating(onTurn: (turn: number) => void): ModelProvider {
  const says = (calls: readonly object[]): ModelOutcome => ({
    content: calls.map((call, n) => ({ type: 'tool_use', id: `toolu_${n}`, ...call }) as never),
    ...{ stopReason: 'tool_use', servedBy: MODEL.id },
    usage: { input: 1_200, output: 180, cacheRead: 0, cacheWrite: 0 },
  })
  const done = says([{ name: 'complete_task', input: { summary: prose(300, 7) } }])
  const delegates = Array.from({ length: PER_TURN }, (_, n) => ({
    ...{ name: 'delegate_to_agent', input: { role: 'coder', task: `Part ${n}. ${prose(500, n)}` } },
  }))
  return {
    id: 'bench',
    async call({ messages }) {
      if (messages[0]!.content !== 'Read the files.') return done
      const turn = messages.filter(({ role }) => role === 'assistant').length + 1
      onTurn(turn)
      return turn > CHILDREN / PER_TURN ? done : says(delegates)
    },
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is still held after a full collection, bytes. */
function held(): number {
  collect()
  return process.memoryUsage().heapUsed
}

const bare = (embedded: Embedded) => async () => {
  let left = CHILDREN
  const loop = async () => {
    while (left-- > 0) await embedded.run(1)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
}

export const children: Case = {
  name: 'children',
  async run(bench: Bench): Promise<Figure[]> {
    const pairs = new Pairs()
    const data = join(bench.folder, 'children')
    const embedded = await openEmbedded(data)
    for (let round = 0; round <= bench.rounds; round++) {
      const ours = await timed(() =>
        embedded.runWith(
          delegating(() => undefined),
          spec,
        ),
      )
      const floor = await timed(bare(embedded))
      if (round > 0) pairs.add(ours, floor)
    }
    const heap = new Map<number, number>()
    await embedded.runWith(
      delegating((turn) => {
        heap.set((turn - 1) * PER_TURN, held())
      }),
      spec,
    )
    await embedded.close()
    rmSync(data, { recursive: true })
    const [cpu, wall] = [pairs.of('cpuMs'), pairs.of('ms')]
    const [few, all] = [heap.get(PER_TURN)!, heap.get(CHILDREN)!]
    return [
      {
        name: 'CPU of a child, birth to end',
        ...{ ours: ms(cpu.ours / CHILDREN), floor: ms(cpu.floor / CHILDREN), value: cpu.ratio, goal: most(3, ' ×') },
        note: 'floor: a run of one turn',
      },
      {
        name: `${CHILDREN} children, ${AT_ONCE} at work`,
        ...{ ours: ms(wall.ours), floor: ms(wall.floor), value: wall.ratio, goal: most(3, ' ×') },
        note: `floor: ${CHILDREN} runs, ${AT_ONCE} at once`,
      },
      {
        name: `memory held after ${CHILDREN} children`,
        ...{ ours: megabytes(all), floor: megabytes(few), value: all / few, goal: most(1.1, ' ×') },
        note: `floor: after ${PER_TURN}`,
      },
    ]
  },
}
