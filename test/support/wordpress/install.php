<?php
// Installs WordPress and fills it with what the JSON file names that is given as the argument. Prints as JSON the ids of
// categories and posts by their names, and application passwords by user.
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = parse_url(getenv('WORDPRESS_URL'), PHP_URL_HOST);
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
$_SERVER['REQUEST_URI'] = '/';
require __DIR__ . '/settings.php';
require ABSPATH . 'wp-settings.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

$wanted = json_decode(file_get_contents($argv[1]), true, 64, JSON_THROW_ON_ERROR);
$must = function ($made) {
    if (is_wp_error($made)) {
        throw new RuntimeException($made->get_error_message());
    }
    return $made;
};

wp_install($wanted['title'], 'administrator', 'administrator@blog.test', true, '', wp_generate_password(24));
update_option('permalink_structure', '/%postname%/');
flush_rewrite_rules();
// What a fresh installation shows as an example.
foreach (get_posts(['post_type' => 'any', 'post_status' => 'any', 'numberposts' => -1]) as $post) {
    wp_delete_post($post->ID, true);
}

$made = ['categories' => [], 'posts' => [], 'passwords' => []];
$users = [];
foreach ($wanted['users'] as $user) {
    $users[$user['login']] = $must(wp_insert_user([
        'user_login' => $user['login'],
        'user_pass' => wp_generate_password(24),
        'user_email' => $user['email'],
        'display_name' => $user['name'],
        'role' => $user['role'],
    ]));
    $password = $must(WP_Application_Passwords::create_new_application_password(
        $users[$user['login']],
        ['name' => 'mcp']
    ));
    $made['passwords'][$user['login']] = WP_Application_Passwords::chunk_password($password[0]);
}
foreach ($wanted['categories'] as $category) {
    $term = $must(wp_insert_term($category['name'], 'category', [
        'description' => $category['description'],
        'parent' => $made['categories'][$category['parent'] ?? ''] ?? 0,
    ]));
    $made['categories'][$category['name']] = $term['term_id'];
}
foreach ($wanted['posts'] as $post) {
    $id = $must(wp_insert_post([
        'post_title' => $post['title'],
        'post_content' => $post['content'],
        'post_excerpt' => $post['excerpt'] ?? '',
        'post_status' => $post['status'],
        'post_password' => $post['password'] ?? '',
        'post_author' => $users[$post['author']],
        'post_date_gmt' => $post['date'],
        'post_date' => $post['date'],
        'post_category' => array_map(fn ($name) => $made['categories'][$name], $post['categories']),
        'tags_input' => $post['tags'] ?? [],
    ], true));
    $made['posts'][$post['title']] = $id;
    foreach ($post['comments'] ?? [] as $comment) {
        wp_insert_comment([
            'comment_post_ID' => $id,
            'comment_author' => $comment['name'],
            'comment_author_email' => $comment['email'],
            'comment_content' => $comment['text'],
            'comment_approved' => 1,
        ]);
    }
}
if (!empty($wanted['sticky'])) {
    stick_post($made['posts'][$wanted['sticky']]);
}
echo "\n", json_encode($made, JSON_THROW_ON_ERROR);
