import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import { vertex } from './vertex.ts'

/** All dialects that are spoken. Another one is a file, and a row here. */
export const DIALECTS = [anthropic, openai, azure, gemini, vertex, bedrock] as const
