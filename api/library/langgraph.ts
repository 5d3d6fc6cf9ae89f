import '../node-version.ts'

// The checkpointer for LangGraph: `@keepup/runtime/langgraph`. Install `@langchain/langgraph-checkpoint` too.

export { KeepUpSaver, type SaverOptions } from './langgraph/saver.ts'
