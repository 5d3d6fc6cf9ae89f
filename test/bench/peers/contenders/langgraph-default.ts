import { contend } from '../contender.ts'
import { openLangGraph } from './langgraph.ts'

await contend((given) => openLangGraph(given, false))
