/** The portal's texts in Portuguese, as it is written in Brazil. */
import type { Catalogue } from "../ui/Language.ts"

export const texts: Catalogue = {
  // webhooks

  //

  //

  //

  // everywhere
  "{count} days": ["{count} dia", "{count} dias"],
  "just now": "agora mesmo",
  "in a moment": "em instantes",
  "{length} ago": "há {length}",
  "in {length}": "em {length}",
  "Time zone: {timeZone}": "Fuso horário: {timeZone}",
  "Copy": "Copiar",
  "Copied": "Copiado",
  "Select and copy it": "Selecione e copie",
  "Copy {what}": "Copiar {what}",
  "Cancel": "Cancelar",
  "Close": "Fechar",
  "Done": "Concluir",
  "Stop": "Parar",
  "Status": "Status",
  "Created": "Criada",
  "Your role may not do this.": "Sua função não permite esta ação.",
  "It is not known whether this was done.": "Não se sabe se a ação foi realizada.",
  "A value is not valid.": "Um valor não é válido.",
  "You are not signed in.": "Não há uma sessão iniciada.",
  "This is not allowed.": "Esta ação não é permitida.",
  "This was not found.": "Não foi encontrado.",
  "This conflicts with an earlier request.": "Isto conflita com uma requisição anterior.",
  "Too many requests. Try again later.": "Requisições demais. Tente novamente mais tarde.",
  "The service failed. Try again later.": "O serviço falhou. Tente novamente mais tarde.",
  "The service refused this.": "O serviço recusou a ação.",
  "Something went wrong in this page. Reload it.": "Algo falhou nesta página. Recarregue-a.",
  "The service did not respond: {why}.": "O serviço não respondeu (“{why}”).",
  "Request {id}": "Requisição {id}",
  "Pages of the list": "Páginas da lista",
  "First page": "Primeira página",
  "Next page": "Próxima página",
  "No {what} fits these filters": "Nada corresponde a estes filtros",
  "So far: the newest were looked at. The next page goes on with the older ones.":
    "Por enquanto: foram verificados os itens mais recentes. A próxima página continua com os anteriores.",
  "No {what} on this page": "Não há nada nesta página",
  "{count} rows so far": "Linhas até agora: {count}",
  "Stopped: no file was saved.": "Interrompido: nenhum arquivo foi salvo.",
  "{count} rows saved.": ["{count} linha salva.", "{count} linhas salvas."],
  "A file has at most this many rows.": "Um arquivo não pode ter mais linhas.",
  "Download CSV": "Baixar CSV",
  "Loading": "Carregando",
  "Try again": "Tentar novamente",
  "the service does not respond now.": "o serviço não responde no momento.",
  "This is from {time}: {why}": "Dados obtidos {time}: {why}",
  "Loading. What is below is from before.": "Carregando. O que aparece abaixo é anterior.",
  "There is no such {what}": "Não há nada com este identificador",
  "Actions": "Ações",
  "Deliveries": "Entregas",
  "API keys": "Chaves de API",
  "Webhooks": "Webhooks",
  "Not found": "Não encontrada",
  "There is no page at this address": "Não há nenhuma página neste endereço",
  "Overview": "Início",
  "Something went wrong": "Algo deu errado",
  "This page cannot be shown": "Não é possível mostrar esta página",
  "Reload": "Recarregar",
  "An error in the page prevents that. What happened is in the browser’s console.":
    "Um erro da página impede isso. Os detalhes estão no console do navegador.",
  "Pages": "Páginas",
  "As the system": "Conforme o sistema",
  "Light": "Claro",
  "Dark": "Escuro",
  "Your role: {role}": "Sua função: {role}",
  "Appearance": "Aparência",
  "Not loaded": "Não carregada",
  "This page could not be loaded": "Não foi possível carregar esta página",
  "The service has another version of the dashboard: reload it.":
    "O serviço tem outra versão destas páginas: recarregue-as.",
  "The service may be restarting. The page comes by itself once the service has it.":
    "Talvez o serviço esteja reiniciando. A página aparecerá automaticamente assim que estiver disponível.",
  "What you have filled in is kept until you reload: Back leads to it.":
    "O que você preencheu é mantido até recarregar a página: use Voltar para encontrá-lo.",
  "Skip to content": "Ir para o conteúdo",
  "Menu": "Menu",
  "Close menu": "Fechar menu",
  "member": "membro",
  "developer": "desenvolvedor",
  "admin": "administrador",
  "owner": "proprietário",
  "This needs the role {needed}; you are {role}. An admin of the workspace can change that.":
    "Isto requer a função {needed}; a sua é {role}. Um administrador do espaço de trabalho pode mudá-la.",
  "This view has ended": "Esta visualização foi encerrada",
  "Reload the page of the application that shows it.": "Recarregue a página do aplicativo que a mostra.",
  "Your session has ended": "Sua sessão foi encerrada",
  "Reload the page in the application that embeds this view.":
    "Recarregue a página no aplicativo que inclui esta visualização.",
  "Send messages": "Enviar mensagens",
  "Read messages": "Ler mensagens",
  "With their text and files, and the events of all customers.":
    "Com seu texto e seus arquivos, e os eventos de todos os clientes.",
  "Store files": "Armazenar arquivos",
  "Upload the files that messages send, and delete files.":
    "Enviar os arquivos usados nas mensagens e excluir arquivos.",
  "Change opt-outs": "Alterar descadastros",
  "Record that a customer wants no messages, or wants them again.":
    "Registrar que um cliente não quer mensagens ou que as quer de novo.",
  "Run campaigns": "Executar campanhas",
  "Send a template to all customers of a file, and read who got it.":
    "Enviar um modelo a todos os clientes de um arquivo e ver quem o recebeu.",
  "Never": "Nunca",
  "In 30 days": "Em 30 dias",
  "In 90 days": "Em 90 dias",
  "In a year": "Em um ano",
  "At a time…": "Em um momento determinado…",
  "Name": "Nome",
  "What uses the key, for example “Order service”.": "O que usa a chave, por exemplo “Serviço de pedidos”.",
  "Expires": "Validade",
  "Expires at": "Data e hora de validade",
  "Besides sending messages, the key may": "Além de enviar mensagens, a chave permite",
  "Require signed requests": "Exigir requisições assinadas",
  "Requests with this key that change something are refused unless they are signed with its signing secret.":
    "As requisições com esta chave que alteram algo são recusadas se não estiverem assinadas com o segredo de assinatura dela.",
  "It sends from": "Envia de",
  "If you choose none: from every number, also from those added later.":
    "Se nenhum for escolhido: de todos os números, também dos adicionados depois.",
  "Used from": "Uso permitido a partir de",
  "Networks or addresses, for example 203.0.113.0/24. If you name none: from anywhere.":
    "Redes ou endereços, por exemplo 203.0.113.0/24. Se nada for indicado: de qualquer lugar.",
  "Create key": "Criar chave",
  "These secrets are shown this once. Store both now, for example in your secret manager.":
    "Estes segredos são mostrados só desta vez. Guarde os dois agora, por exemplo no seu gerenciador de segredos.",
  "API key": "Chave de API",
  "Signing secret": "Segredo de assinatura",
  "Try it: send a first message": "Testar: enviar uma primeira mensagem",
  "Command": "Comando",
  "I have stored it": "Já guardei",
  "Store both secrets, then tick the box: they are not shown again.":
    "Guarde os dois segredos e marque a caixa: eles não serão mostrados de novo.",
  "Create an API key": "Criar uma chave de API",
  "API key “{name}”": "Chave de API “{name}”",
  "The key was created, but the response with its secrets was lost, and they are not shown again. Revoke this key and create another.":
    "A chave foi criada, mas a resposta com seus segredos se perdeu, e eles não serão mostrados de novo. Revogue esta chave e crie outra.",
  "Revoke…": "Revogar…",
  "All API keys": "Todas as chaves de API",
  "Revoked": "Revogada",
  "Expired": "Expirada",
  "Active": "Ativa",
  "Begins with": "Começa com",
  "May": "Permissões",
  "Sends from": "Envia de",
  "Every number": "Todos os números",
  "Anywhere": "Qualquer lugar",
  "Last used": "Último uso",
  "Signed requests": "Requisições assinadas",
  "Required": "Obrigatórias",
  "Optional": "Opcionais",
  "Create API key": "Criar chave de API",
  "Your servers send messages with an API key. Keep keys out of browsers and apps.":
    "Seus servidores enviam mensagens com uma chave de API. Não use as chaves em navegadores nem aplicativos.",
  "Revoke {name}": "Revogar {name}",
  "There is no active API key": "Não há nenhuma chave de API ativa",
  "A key’s secrets are shown once, when it is created.":
    "Os segredos de uma chave são mostrados uma única vez, ao criá-la.",
  "Revoke “{name}”?": "Revogar “{name}”?",
  "Revoke key": "Revogar chave",
  "Every request with this key is refused within 2 seconds. This cannot be undone.":
    "Todas as requisições com esta chave são recusadas em até 2 segundos. Isto não pode ser desfeito.",
  "It was never used.": "Nunca foi usada.",
  "It was last used {time}.": "Foi usada pela última vez {time}."
}
