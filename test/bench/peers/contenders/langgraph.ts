import { join } from 'node:path'
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { END, MessagesDeltaValue, START, StateGraph, StateSchema } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { answerOf } from '../../text.ts'
import { type Given, nextResult, turnAfter } from '../contender.ts'

// A graph of LangGraph.js with a node for the model and one for the tool, whose messages are kept as deltas in SQLite.

/** `durable`: each step waits for its checkpoint, and SQLite syncs each commit. Else as it is by default. */
export async function openLangGraph({ folder }: Given, durable: boolean) {
  const saver = SqliteSaver.fromConnString(join(folder, 'langgraph.db'))
  const state = new StateSchema({ messages: MessagesDeltaValue })
  const ends = new Map<string, number>()
  const graph = new StateGraph(state)
    .addNode('model', ({ messages }, config) => {
      const turn = turnAfter(messages.length - 1)
      const { text, call } = answerOf(turn, turn === ends.get(threadOf(config)))
      return {
        messages: [new AIMessage({ content: text, tool_calls: [{ id: call.id, name: call.name, args: call.input }] })],
      }
    })
    .addNode('tool', ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls!
      return { messages: [new ToolMessage({ content: nextResult(), tool_call_id: call!.id!, name: call!.name })] }
    })
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls![0]!.name === 'read_file' ? 'tool' : END,
    )
    .addEdge('tool', 'model')
    .compile({ checkpointer: saver })

  const configOf = (thread: string) => ({ configurable: { thread_id: thread } })
  // The tables, and WAL, are made on first use; the setting must follow the journal's mode.
  await saver.getTuple(configOf('none'))
  if (durable) saver.db.pragma('synchronous = FULL')
  return {
    async run(turns: number) {
      const thread = `run-${ends.size + 1}`
      ends.set(thread, turns)
      await graph.invoke(
        { messages: [{ role: 'user', content: 'Read the files.' }] },
        { ...configOf(thread), recursionLimit: 2 * turns + 10, durability: durable ? 'sync' : 'async' },
      )
    },
    async results() {
      let held = 0
      for (const thread of ends.keys()) {
        const { values } = await graph.getState(configOf(thread))
        held += (values.messages as unknown[]).filter((message) => ToolMessage.isInstance(message)).length
      }
      return held
    },
    durability: async () => `synchronous ${saver.db.pragma('synchronous', { simple: true })}`,
    close: async () => void saver.db.close(),
  }
}

const threadOf = ({ configurable }: { configurable?: { thread_id?: string } }): string => configurable!.thread_id!
