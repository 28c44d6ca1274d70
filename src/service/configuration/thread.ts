import { serveTasks } from '../../runtime/serve-tasks.ts'
import { TASKS } from './compile.ts'

serveTasks(TASKS)
