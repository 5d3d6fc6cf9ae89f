import '../node-version.ts'

// The checkpointer for LangGraph: `@keepup/runtime/langgraph`. It needs `@langchain/langgraph-checkpoint` beside keepup.

export { KeepUpSaver, type SaverOptions } from './langgraph/saver.ts'
