import { openKeepUp } from '@keepup/runtime'
import { KeepUpSaver } from '@keepup/runtime/langgraph'
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph'

const Order = Annotation.Root({ order: Annotation<string>, charged: Annotation<number>, answer: Annotation<string> })
const [answer] = process.argv.slice(2)

const keepup = await openKeepUp({ data: 'data', by: 'ada' })
const graph = new StateGraph(Order)
  .addNode('charge', () => {
    console.log('charging')
    return { charged: 12 }
  })
  .addNode('ask', () => ({ answer: interrupt('Ship it?') as string }))
  .addNode('ship', ({ order, answer: said }) => {
    console.log(said === 'yes' ? `shipping ${order}` : 'keeping it')
    return {}
  })
  .addEdge(START, 'charge')
  .addEdge('charge', 'ask')
  .addEdge('ask', 'ship')
  .compile({ checkpointer: new KeepUpSaver(keepup) })

const thread = { configurable: { thread_id: 'order-42' } }
await graph.invoke(answer === undefined ? { order: '42' } : new Command({ resume: answer }), thread)
const { next } = await graph.getState(thread)
const { ok, events } = await keepup.verifyStream({ stream: 'thread-order-42' })
console.log(next.length > 0 ? `waits at: ${next}` : 'done', `(${events} events, proof ${ok ? 'holds' : 'broken'})`)
await keepup.close()
